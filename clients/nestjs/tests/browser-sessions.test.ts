import type { Request, Response } from "express";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { BrowserSessions, MOST_SESSIONS } from "../src/access/browser-sessions.js";
import type { Provider, TokenAnswer } from "../src/access/provider.js";
import { readSettings } from "../src/settings.js";
import type { SignInSettings } from "../src/settings.js";

const HOUR_S = 3_600;
const SIGN_IN: SignInSettings = {
  issuer: new URL("https://login.example"),
  clientId: "gateway",
  clientSecret: undefined,
  scope: "openid",
  resource: undefined,
  publicUrl: new URL("https://proviso.example"),
};

let refreshed: ReturnType<typeof vi.fn<Provider["refreshed"]>>;
let revoked: string[];
let sessions: BrowserSessions;

beforeEach(() => {
  vi.useFakeTimers({ now: 0, toFake: ["Date"] });
  refreshed = vi.fn<Provider["refreshed"]>(() => Promise.resolve(tokens("ada", HOUR_S)));
  revoked = [];
  const revoke = (token: string): Promise<void> => Promise.resolve(void revoked.push(token));
  sessions = new BrowserSessions({ refreshed, revoke } as unknown as Provider, {
    ...readSettings({}),
    signIn: SIGN_IN,
  });
});

afterEach(() => {
  vi.useRealTimers();
});

function tokens(sub: string, lastsS: number | undefined, claims: object = {}): TokenAnswer {
  const answer = { access_token: `of ${sub}`, refresh_token: `refresh ${sub}`, token_type: "bearer" };
  return { ...answer, expiresIn: () => lastsS, claims: () => ({ sub, ...claims }) } as unknown as TokenAnswer;
}

/** The request of a browser that has signed in. */
function signedIn(sub: string, lastsS: number | undefined = HOUR_S, before?: Request, claims: object = {}): Request {
  let cookie = "";
  const response = { cookie: (name: string, value: string) => (cookie = `${name}=${value}`) } as unknown as Response;
  sessions.begin(before ?? requestWith(""), response, tokens(sub, lastsS, claims));
  return requestWith(cookie);
}

function requestWith(cookie: string): Request {
  return { headers: { cookie: `other=1; ${cookie}` } } as Request;
}

async function subject(request: Request): Promise<string | undefined> {
  return (await sessions.find(SIGN_IN, request))?.subject;
}

test("sessions are bounded: the oldest one goes", async () => {
  const first = signedIn("first");
  const second = signedIn("second");
  for (let more = 2; more <= MOST_SESSIONS; more += 1) signedIn("other");
  expect([await subject(first), await subject(second)]).toEqual([undefined, "second"]);
});

test("a session ends after twelve hours, however often its tokens are replaced", async () => {
  const ada = signedIn("ada");
  for (let hour = 1; hour < 12; hour += 1) {
    vi.setSystemTime(hour * HOUR_S * 1000);
    expect(await subject(ada)).toBe("ada");
  }
  expect(refreshed).toHaveBeenCalledTimes(11);
  vi.setSystemTime(12 * HOUR_S * 1000);
  expect(await subject(ada)).toBeUndefined();
});

test("a token is replaced half a minute before its end, or at half of a short life", async () => {
  const [long, short] = [signedIn("ada", 300), signedIn("ada", 20)];
  vi.setSystemTime(9_999);
  await subject(short);
  expect(refreshed).not.toHaveBeenCalled();
  vi.setSystemTime(10_000);
  await subject(short);
  expect(refreshed).toHaveBeenCalledTimes(1);
  vi.setSystemTime(269_999);
  await subject(long);
  expect(refreshed).toHaveBeenCalledTimes(1);
  vi.setSystemTime(270_000);
  await subject(long);
  expect(refreshed).toHaveBeenCalledTimes(2);
});

test("refreshed tokens of somebody else end the session", async () => {
  const ada = signedIn("ada", 20);
  refreshed.mockResolvedValue(tokens("bob", 20));
  vi.setSystemTime(15_000);
  expect(await subject(ada)).toBeUndefined();
});

test("another sign-in in the same browser takes the place of the first one", async () => {
  const ada = signedIn("ada");
  const bob = signedIn("bob", HOUR_S, ada);
  expect([await subject(ada), await subject(bob), revoked]).toEqual([undefined, "bob", ["refresh ada"]]);
});

test("a person is called by his name, else as he signs in, else by his id", async () => {
  const named = { name: "Ada", preferred_username: "al" };
  for (const [claims, name] of [
    [named, "Ada"],
    [{ preferred_username: "al" }, "al"],
    [{ name: " " }, "ada"],
  ] as const)
    expect((await sessions.find(SIGN_IN, signedIn("ada", HOUR_S, undefined, claims)))?.name).toBe(name);
});
