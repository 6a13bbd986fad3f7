import { describe, expect, it } from "vitest";
import { SseParser } from "../../src/core/sse-parser.js";
import type { ServerEvent } from "../../src/core/sse-parser.js";

function event(id: string, event: string, data: string): ServerEvent {
  return { id, event, data };
}

const STREAMS: [name: string, stream: string, events: ServerEvent[]][] = [
  ["one event", 'id: 7\nevent: token\ndata: {"a":1}\n\n', [event("7", "token", '{"a":1}')]],
  [
    "CRLF",
    "id: 1\r\nevent: token\r\ndata: a\r\n\r\nid: 2\r\ndata: b\r\n\r\n",
    [event("1", "token", "a"), event("2", "message", "b")],
  ],
  ["CR alone", "id: 1\rdata: a\r\rdata: b\r\rx\n", [event("1", "message", "a"), event("1", "message", "b")]],
  ["mixed line ends", "data: a\r\ndata: b\n\r\ndata: c\n\n", [event("", "message", "a\nb"), event("", "message", "c")]],
  ["data of several lines", "data: one\ndata:\ndata:  two\n\n", [event("", "message", "one\n\n two")]],
  ["comments", ": hello\n\n:\ndata: a\n: between\n\n", [event("", "message", "a")]],
  ["a field without a colon", "data\n\n", [event("", "message", "")]],
  ["no space behind the colon", "id:3\ndata:a:b\n\n", [event("3", "message", "a:b")]],
  ["unknown fields", "retry: 10\nfoo: bar\ndata: a\n\n", [event("", "message", "a")]],
  ["an event without data", "event: token\n\ndata: a\n\n", [event("", "message", "a")]],
  ["an id that stays", "id: 4\ndata: a\n\ndata: b\n\n", [event("4", "message", "a"), event("4", "message", "b")]],
  ["an id with NUL", "id: 4\0\ndata: a\n\n", [event("", "message", "a")]],
  ["an event that is not complete", "data: a\n\ndata: b\n", [event("", "message", "a")]],
  ["text beyond the basic plane", "data: 👩‍⚖️ ok\n\n", [event("", "message", "👩‍⚖️ ok")]],
  ["a byte order mark", "\uFEFFdata: a\n\n", [event("", "message", "a")]],
];

describe.each(STREAMS)("a stream with %s", (_, stream, events) => {
  it("is the same however it is cut in two", () => {
    for (let cut = 0; cut <= stream.length; cut += 1) {
      const parser = new SseParser();
      expect([...parser.push(stream.slice(0, cut)), ...parser.push(stream.slice(cut))]).toEqual(events);
    }
  });

  it("is the same code unit by code unit", () => {
    const parser = new SseParser();
    expect(Array.from({ length: stream.length }, (__, at) => parser.push(stream.charAt(at))).flat()).toEqual(events);
  });
});
