// Runs a function of the Apps Script program on a sheet that is read from standard input, and writes the sheet as it is
// afterwards. Google's services are replaced by ones with the same methods; requests go to the service.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";

const [program, name] = process.argv.slice(2);
const { rows, properties, inserted } = JSON.parse(readFileSync(0, "utf8"));

const sheet = {
  getDataRange: () => ({ getValues: () => rows.map((row) => [...row]) }),
  getRange: (row, column) => ({ setValue: (value) => (rows[row - 1][column - 1] = value) }),
};

// Apps Script waits for each answer; another process does the waiting here.
const fetcher = `
  const [url, options] = JSON.parse(require("fs").readFileSync(0, "utf8"));
  fetch(url, options).then(async (r) => console.log(JSON.stringify({
    status: r.status, headers: Object.fromEntries(r.headers), text: await r.text(),
  })));`;

const slept = [];
const google = {
  SpreadsheetApp: {
    getActiveSpreadsheet: () => ({ getSheetByName: (wanted) => (wanted === "Pedidos" ? sheet : null) }),
    flush: () => {},
  },
  PropertiesService: { getScriptProperties: () => ({ getProperty: (property) => properties[property] ?? null }) },
  LockService: { getDocumentLock: () => ({ tryLock: () => true, releaseLock: () => {} }) },
  Utilities: { sleep: (milliseconds) => slept.push(milliseconds / 1000) },
  UrlFetchApp: {
    fetch: (url, options) => {
      const headers = { ...options.headers, ...(options.contentType && { "Content-Type": options.contentType }) };
      const request = { method: options.method.toUpperCase(), headers, body: options.payload, redirect: options.followRedirects ? "follow" : "manual" };
      // A colleague who inserts an empty row on top while an order is sent.
      if (inserted && request.method === "POST" && !rows[1].every((cell) => cell === "")) rows.splice(1, 0, rows[0].map(() => ""));
      const answer = JSON.parse(execFileSync(process.execPath, ["-e", fetcher], { input: JSON.stringify([url, request]), stdio: ["pipe", "pipe", "ignore"] }));
      // Apps Script keeps the capitals of the names.
      const received = Object.fromEntries(Object.entries(answer.headers).map(([header, value]) => [header.replace(/(^|-)[a-z]/g, (c) => c.toUpperCase()), value]));
      return { getResponseCode: () => answer.status, getContentText: () => answer.text, getHeaders: () => received };
    },
  },
};

runInContext(`${readFileSync(program, "utf8")}\n${name}();`, createContext(google));
console.log(JSON.stringify({ rows, slept }));
