"""A client of Despacho's API for a store's or an operator's own system.

It creates orders exactly once, retries what may be retried, and checks the signatures of webhooks.
It needs Python 3.9 or later and nothing else: copy this file into your project.
"""

from __future__ import annotations

import base64
import email.utils
import hashlib
import hmac
import http.client
import json
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar

Object = Dict[str, Any]
"""A resource as the service sends it; /docs describes its members."""

_T = TypeVar("_T")


class DespachoError(Exception):
    """What every error of this module is."""


class APIError(DespachoError):
    """An answer other than 2xx.

    Decide on `code`, and on `status` where the code is unknown or empty, as in an answer of a proxy.
    `message` is Spanish text to show to a person, `fields` names what is wrong in what was sent, and
    `request_id` is what to quote when asking about the request.
    """

    def __init__(self, status: int, body: Mapping[str, Any], request_id: str, retry_after: float):
        self.status = status
        self.code: str = _of_type(str, body.get("code"))
        self.message: str = _of_type(str, body.get("error"))
        self.fields: List[Dict[str, str]] = _of_type(list, body.get("fields"))
        self.request_id = request_id
        self.retry_after = retry_after
        super().__init__(f"{status} {self.code}: {self.message} (request {request_id})")

    def __reduce__(self) -> Tuple[Any, ...]:
        """Lets the error leave a process of a pool: it is made again from what it was made from, not from its text."""
        body = {"code": self.code, "error": self.message, "fields": self.fields}
        return type(self), (self.status, body, self.request_id, self.retry_after)


class NoAnswerError(DespachoError):
    """No answer of the service came: whether the request was carried out is not known."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: that would hand the key to another server."""

    def redirect_request(self, *_args: Any) -> None:
        return None


class Client:
    """Asks one service with one API key. The catalog and the tracking need no key.

    A request may take `timeout` seconds. It is sent up to `attempts` times; `wait` is the pause before the second
    attempt in seconds, and each further pause is twice as long, up to `max_wait`. If the service asks for a longer one,
    its refusal is raised.
    """

    def __init__(
        self,
        base_url: str,
        key: str = "",
        *,
        timeout: float = 15,
        attempts: int = 6,
        wait: float = 1.0,
        max_wait: float = 120,
        sleep: Callable[[float], None] = time.sleep,
    ):
        if not re.match("https?://", base_url, re.IGNORECASE):
            raise ValueError("the address of the service begins with https://")
        self._base_url = base_url.rstrip("/")
        self._key = key
        self._timeout = timeout
        self._attempts = attempts
        self._wait = wait
        self._max_wait = max_wait
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirect)

    def create_order(self, idempotency_key: str, order: Mapping[str, Any]) -> Object:
        """Creates an order exactly once, however often it has to ask.

        `idempotency_key` is the sale's own number: it is the same in every attempt, also in those after a restart,
        for 24 hours. The result has the order's members, `warning`, to be shown to whoever dispatches, or None, and
        `replayed`: whether an earlier request with the same key created it.
        """
        headers = {"Idempotency-Key": idempotency_key}
        answer, received = self._do("POST", "/v1/orders", body=order, headers=headers, repeatable=True)
        replayed = received.get("Idempotent-Replayed") == "true"
        return {**answer["data"], "warning": answer.get("warning"), "replayed": replayed}

    def get_order(self, order_id: str) -> Object:
        """Reads an order as it is now."""
        return self._read("/v1/orders/" + _segment(order_id))["data"]

    def orders(
        self,
        *,
        status: Optional[str] = None,
        from_date: Optional[str] = None,
        to_date: Optional[str] = None,
        external_id: Optional[str] = None,
        limit: int = 200,
    ) -> Iterator[Object]:
        """Lists orders, newest first, page after page. The dates are days of the operator, as 2026-11-15."""
        chosen = {"status": status, "from_date": from_date, "to_date": to_date, "external_id": external_id}
        return self._each("/v1/orders", "orders", chosen, limit)

    def correct_order(self, order_id: str, correction: Mapping[str, Any]) -> Object:
        """Changes those fields of an order that the correction has: a store's while it is registered.

        None removes a value. The result has the order's members, `message`, which says what the shipping cost was and
        what it is now, or None if it is the same, and `warning`, to be shown to whoever dispatches, or None.
        """
        answer = self._write("PATCH", "/v1/orders/" + _segment(order_id), correction)
        return {**answer["data"], "message": answer.get("message"), "warning": answer.get("warning")}

    def cancel_order(self, order_id: str, *, reason: Optional[str] = None, note: Optional[str] = None) -> Object:
        """Cancels an order that is still registered."""
        return self._write("PATCH", f"/v1/orders/{_segment(order_id)}/cancel", {"reason": reason, "note": note})["data"]

    def decide(self, order_id: str, decision: Mapping[str, Any]) -> Object:
        """Says what comes next after a failed attempt: another one, another one with what is corrected, or the way back.

        A store decides once, until the order's `decision_deadline`.
        """
        return self._write("POST", f"/v1/orders/{_segment(order_id)}/decision", decision)["data"]

    def advance_test_order(self, order_id: str) -> Object:
        """Makes the next step of a test order at once. It needs a test key."""
        return self._write("POST", f"/v1/test/orders/{_segment(order_id)}/advance")["data"]

    def track(self, guide_code: str) -> Object:
        """Reads what anybody who has the guide code may see."""
        return self._read("/v1/track/" + _segment(guide_code))["data"]

    def stores(self) -> List[Object]:
        """Lists the operator's active stores."""
        return self._read("/v1/stores")["data"]

    def settlements(self, *, store_id: Optional[str] = None, limit: int = 200) -> Iterator[Object]:
        """Lists what the operator pays its stores, newest first, page after page, without the lines.

        With an operator's key, `store_id` chooses one store.
        """
        query = {"store_id": store_id}
        return self._each("/v1/settlements", "settlements", query, limit, lambda settlement: settlement["number"])

    def get_settlement(self, settlement_id: str) -> Object:
        """Reads a settlement with its `lines`."""
        return self._read("/v1/settlements/" + _segment(settlement_id))["data"]

    def balance(self, *, store_id: Optional[str] = None) -> Object:
        """Reads what the operator owes the key's store, or all of its stores, of which `store_id` chooses one."""
        return self._read("/v1/balance", {"store_id": store_id})["data"]

    def register_webhook(
        self, url: str, events: Sequence[str], *, retry: bool = False, store_id: Optional[str] = None
    ) -> Object:
        """Registers a receiver of events. The secret is shown this once."""
        body = {"url": url, "events": list(events), "retry": retry, "store_id": store_id}
        return self._write("POST", "/v1/webhooks", body)["data"]

    def webhooks(self) -> List[Object]:
        """Lists the active webhooks."""
        return self._read("/v1/webhooks")["data"]

    def get_webhook(self, webhook_id: str) -> Object:
        """Reads a webhook as it is now, also after its deactivation."""
        return self._read("/v1/webhooks/" + _segment(webhook_id))["data"]

    def change_webhook(
        self,
        webhook_id: str,
        *,
        url: Optional[str] = None,
        events: Optional[Sequence[str]] = None,
        retry: Optional[bool] = None,
        paused: Optional[bool] = None,
    ) -> Object:
        """Changes the address, the events or the retries of a webhook without another secret.

        With `paused` it is paused, which keeps its events, and resumed, which sends them. What is None stays as it is.
        """
        given = {"url": url, "events": events if events is None else list(events), "retry": retry, "paused": paused}
        change = {name: value for name, value in given.items() if value is not None}
        return self._write("PATCH", "/v1/webhooks/" + _segment(webhook_id), change)["data"]

    def webhook_health(self, webhook_id: str) -> List[Object]:
        """Counts what arrived and what failed on each of the last seven days, oldest first."""
        return self._read(f"/v1/webhooks/{_segment(webhook_id)}/health")["data"]["days"]

    def deactivate_webhook(self, webhook_id: str) -> None:
        """Ends a webhook."""
        self._write("DELETE", "/v1/webhooks/" + _segment(webhook_id))

    def rotate_webhook_secret(self, webhook_id: str, *, revoke: bool = False) -> Object:
        """Replaces a webhook's secret. The earlier one signs beside it for a day, unless it is revoked."""
        return self._write("POST", f"/v1/webhooks/{_segment(webhook_id)}/rotate", {"revoke": revoke})["data"]

    def test_webhook(self, webhook_id: str) -> Object:
        """Sends a signed webhook.test event and returns what the receiver answered."""
        return self._write("POST", f"/v1/webhooks/{_segment(webhook_id)}/test")["data"]

    def redeliver_failed(self, webhook_id: str, from_time: str, to_time: str) -> int:
        """Sends again what failed between two moments (ISO 8601), and returns how many events that is."""
        return self._redeliver_range(webhook_id, {"from": from_time, "to": to_time})

    def redeliver_all(self, webhook_id: str, from_time: str, to_time: Optional[str] = None) -> int:
        """Sends again everything between two moments (ISO 8601), also what was delivered.

        It returns how many events that is. Without `to_time` it is everything until now.
        """
        return self._redeliver_range(webhook_id, {"from": from_time, "to": to_time, "all": True})

    def _redeliver_range(self, webhook_id: str, chosen: Mapping[str, Any]) -> int:
        return self._write("POST", f"/v1/webhooks/{_segment(webhook_id)}/redeliver", chosen)["data"]["redelivering"]

    def deliveries(
        self,
        *,
        webhook_id: Optional[str] = None,
        order_id: Optional[str] = None,
        event: Optional[str] = None,
        status: Optional[str] = None,
        limit: int = 200,
    ) -> Iterator[Object]:
        """Lists what was sent to webhooks, newest first, page after page."""
        chosen = {"webhook_id": webhook_id, "order_id": order_id, "event": event, "status": status}
        return self._each("/v1/deliveries", "deliveries", chosen, limit)

    def get_delivery(self, delivery_id: str) -> Object:
        """Reads a delivery, with what each attempt sent and what the receiver answered."""
        return self._read("/v1/deliveries/" + _segment(delivery_id))["data"]

    def redeliver(self, delivery_id: str) -> Object:
        """Sends a delivery again and returns what the receiver answered."""
        return self._write("POST", f"/v1/deliveries/{_segment(delivery_id)}/redeliver")["data"]

    def events(
        self, after: Optional[str] = None, *, wait: int = 10, limit: int = 200, names: Sequence[str] = ()
    ) -> Object:
        """Reads the events that follow a cursor, oldest first. If there is none, it waits for one for so many seconds.

        The result has `events`, each with its `id` and the `body` of its webhook request, `cursor`, and `more`: whether
        there may be more already. Store the cursor once the events are dealt with: it is the next call's `after`.
        The service waits for 20 seconds at most, and the request has that time besides the client's timeout. `names`
        choose the events; without any they are those that every reader gets.
        """
        query = {"after": after, "wait": wait, "limit": limit, "events": ",".join(names) or None}
        return self._do("GET", "/v1/events", query=query, repeatable=True, longer=wait)[0]["data"]

    def cities(self, country_code: str) -> List[Object]:
        """Lists the cities of a country where something is delivered, by name."""
        return self._read("/public/cities", {"country_code": country_code})["data"]

    def location_tree(self, country_code: str, city: str) -> List[Object]:
        """Lists the districts of a city with their zones. The city is its name or its id."""
        return self._read("/public/locations/tree", {"country_code": country_code, "city": city})["data"]

    def location_children(self, location_id: str) -> List[Object]:
        """Lists what is right below a location: the zones of a district."""
        return self._read(f"/public/locations/{_segment(location_id)}/children")["data"]

    def lookup_ubigeo(self, country_code: str, codes: Sequence[str]) -> List[Object]:
        """Turns INEI ubigeo codes into locations, in the order of the codes."""
        return self._read("/public/locations/ubigeo", {"country_code": country_code, "codes": ",".join(codes)})["data"]

    def search_locations(self, country_code: str, text: str) -> List[Object]:
        """Finds cities, districts and zones by the beginning of their names."""
        return self._read("/public/locations", {"country_code": country_code, "q": text})["data"]

    def _read(self, path: str, query: Optional[Mapping[str, Any]] = None) -> Object:
        return self._do("GET", path, query=query, repeatable=True)[0]

    def _write(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Object:
        return self._do(method, path, body=body)[0]

    def _each(
        self,
        path: str,
        member: str,
        query: Mapping[str, Any],
        limit: int,
        rank_of: Callable[[Object], Any] = lambda element: element["created_at"][:19],
    ) -> Iterator[Object]:
        """Yields the elements of a list page after page, from the newest to the oldest, each at most once.

        What enters the list pushes known elements onto the next page: only what follows the last element that was
        yielded is yielded. What leaves the list, as by what is done with an element, pulls unknown ones onto pages
        that were read already: if the list became shorter, the way goes back to a page with a known element.
        """
        # The rank of the last element that was yielded, by which the list is sorted, and which ones of that rank were.
        last, known = None, set()
        number, total, back = 1, 0, False
        while True:
            page = self._read(path, {**query, "page": number, "limit": limit})["data"]
            elements = page[member]
            following = []
            for element in elements:
                rank = rank_of(element)
                if last is None or rank < last or rank == last and element["id"] not in known:
                    following.append(element)
            back = number > 1 and len(following) == len(elements) and (back or page["total"] < total)
            total = page["total"]
            if back:
                number = max(1, min(number - 1, -(-total // page["limit"])))
                continue
            for element in following:
                rank = rank_of(element)
                if rank != last:
                    last, known = rank, set()
                known.add(element["id"])
                yield element
            if not elements or number * page["limit"] >= total:
                return
            number += 1

    def _do(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, str]] = None,
        repeatable: bool = False,
        longer: float = 0,
    ) -> tuple[Object, Mapping[str, str]]:
        """Sends a request until it is answered, refused or out of attempts.

        A repeatable request does no more when it is sent twice: it is sent again when there was no answer and after
        a server error too, where otherwise it could have been carried out already. `longer` is how many seconds more
        than others a request has: those that it asks the service to wait.
        """
        request = self._request(method, path, query, body, headers)
        attempt = 1
        while True:
            try:
                return self._send(request, self._timeout + longer)
            except DespachoError as error:
                if attempt >= self._attempts or not _retryable(error, repeatable):
                    raise
                # A little more or less than others that failed at the same moment, and never less than asked for.
                pause = min(self._wait * 2 ** min(attempt - 1, 30) * random.uniform(0.8, 1.2), self._max_wait)
                if isinstance(error, APIError):
                    pause = max(pause, error.retry_after)
                if pause > self._max_wait:
                    raise
            self._sleep(pause)
            attempt += 1

    def _request(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]],
        body: Optional[Mapping[str, Any]],
        headers: Optional[Mapping[str, str]],
    ) -> urllib.request.Request:
        address = self._base_url + path
        given = {name: value for name, value in (query or {}).items() if value is not None}
        if given:
            address += "?" + urllib.parse.urlencode(given)
        request = urllib.request.Request(address, method=method)
        for name, text in {**(headers or {}), **({"X-API-Key": self._key} if self._key else {})}.items():
            request.add_header(name, _header(name, text))
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body, allow_nan=False).encode()
        return request

    def _send(self, request: urllib.request.Request, timeout: float) -> tuple[Object, Mapping[str, str]]:
        """Makes one attempt. What keeps a request from being sent at all is raised as it is."""
        ends = time.monotonic() + timeout
        try:
            with self._opener.open(request, timeout=timeout) as response:
                text, received = _read_until(ends, response), response.headers
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error, ends) from None
        except http.client.InvalidURL:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswerError(str(error)) from error
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        # Every answer of the service has this member; one without it comes from somebody else, such as a proxy.
        member = "message" if request.get_method() == "DELETE" else "data"
        if not isinstance(answer, dict) or answer.get(member) is None:
            raise NoAnswerError("the answer is not the service's")
        return answer, received

    @staticmethod
    def _refused(error: urllib.error.HTTPError, ends: float) -> DespachoError:
        try:
            body = json.loads(_read_until(ends, error))
        except (OSError, ValueError, http.client.HTTPException):
            body = None  # the page of a proxy, or half an answer: the status says enough
        retry_after = _seconds_to_wait(error.headers.get("Retry-After") or "")
        request_id = error.headers.get("X-Request-Id") or ""
        return APIError(error.code, body if isinstance(body, dict) else {}, request_id, retry_after)


def _retryable(error: DespachoError, repeatable: bool) -> bool:
    """Says whether it can help, and does no harm, to send the request again."""
    if not isinstance(error, APIError):
        return repeatable
    if error.status == 429 or error.code == "overloaded":
        return True  # the service has not looked at it
    return repeatable and (error.status >= 500 or error.code == "idempotency_in_progress")


def _seconds_to_wait(asked: str) -> float:
    """Reads Retry-After: seconds, as the service sends it, or a date, as a proxy may. What is neither asks for nothing."""
    asked = asked.strip()
    if re.fullmatch("[0-9]+", asked):
        return float(asked)
    try:
        return max(email.utils.parsedate_to_datetime(asked).timestamp() - time.time(), 0.0)
    except (TypeError, ValueError, OverflowError):
        return 0.0


def _read_until(ends: float, response: Any) -> bytes:
    """Reads an answer to its end. The timeout of a connection is for each part of it, however many there are."""
    parts = []
    while part := response.read1():
        parts.append(part)
        if time.monotonic() > ends:
            raise TimeoutError("the answer took too long")
    return b"".join(parts)


def _of_type(kind: Type[_T], value: Any) -> _T:
    """Returns a value of a type, or the empty one: a proxy's own answer may have another under the same name."""
    return value if isinstance(value, kind) else kind()


def _segment(text: str) -> str:
    return urllib.parse.quote(text, safe="")


def _header(name: str, text: str) -> str:
    """Returns a header's text as http.client takes it: a character for each byte of its UTF-8."""
    if re.search("[\x00-\x08\x0a-\x1f\x7f]", text):
        raise ValueError(f"{name} has a character that a header cannot carry")
    return text.encode().decode("latin-1")


def verify(headers: Mapping[str, str], body: bytes, *secrets: str) -> bool:
    """Checks X-Service-Signature of a webhook's request over its raw body.

    It tells whether the request comes from the service, is unchanged and is not an old one. While a secret is being
    changed, give both: either may have signed.
    """
    given = {name.lower(): value for name, value in headers.items()}
    timestamp = given.get("x-service-timestamp", "")
    signatures = f"{given.get('x-service-signature', '')} {given.get('x-service-signature-previous', '')}"

    def sign(secret: str) -> str:
        return "sha256=" + hashlib.sha256(f"{secret}.{timestamp}.".encode() + body).hexdigest()

    return _verify(timestamp, signatures, secrets, sign)


def verify_standard(headers: Mapping[str, str], body: bytes, *secrets: str) -> bool:
    """Checks webhook-signature, the signature of Standard Webhooks, in the same way."""
    given = {name.lower(): value for name, value in headers.items()}
    timestamp = given.get("webhook-timestamp", "")
    signed = f"{given.get('webhook-id', '')}.{timestamp}.".encode(errors="replace") + body

    def sign(secret: str) -> str:
        key = base64.b64decode(secret[len("whsec_") :] if secret.startswith("whsec_") else secret)
        if not key:
            raise ValueError("anybody could have signed with an empty key")
        return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()

    return _verify(timestamp, given.get("webhook-signature", ""), secrets, sign)


def _verify(timestamp: str, signatures: str, secrets: Sequence[str], sign: Callable[[str], str]) -> bool:
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > 300:
        return False
    # A server may give a byte that is not UTF-8 as a surrogate, which cannot be encoded.
    candidates = [signature.encode(errors="replace") for signature in signatures.split()]
    for secret in filter(None, secrets):
        try:
            expected = sign(secret).encode()
        except ValueError:
            continue  # the secret is not in base64, or empty
        if any(hmac.compare_digest(expected, candidate) for candidate in candidates):
            return True
    return False
