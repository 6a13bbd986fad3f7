import { act } from "preact/test-utils";
import { afterEach, expect, it, vi } from "vitest";
import { AccountMenu } from "../../src/app/AccountMenu.js";
import { SessionEnded, SignIn } from "../../src/app/SignIn.js";
import { Account, AccountContext, signInAddress } from "../../src/core/account.js";
import { api } from "../../src/core/api.js";
import type { Caller } from "../../src/core/contract.js";
import { gatewayWith, problemOf } from "../support/gateway.js";
import { drawAll } from "../support/page.js";

const ADA: Caller = { tenant: "acme", user_id: "ada", roles: ["CALLER_ROLE_AUDITOR"], authenticated: true };
const IN = { sign_in: true, signed_in: true, name: "Ada Lovelace" };
const OUT = { sign_in: true, signed_in: false };
let end = (): void => undefined;

afterEach(() => {
  end();
  vi.unstubAllGlobals();
  document.body.replaceChildren();
});

async function settled(): Promise<void> {
  await act(() => new Promise((resolve) => setTimeout(resolve)));
}

async function followed(answers: Record<string, unknown>): Promise<{ account: Account; calls: { route: string }[] }> {
  const calls = gatewayWith(answers);
  const account = new Account();
  end = account.follow();
  await settled();
  return { account, calls };
}

it("without sign-in and credentials nothing is said of who is here", async () => {
  const { account } = await followed({
    "GET /account": { sign_in: false, signed_in: false },
    "GET /caller": { ...ADA, authenticated: false },
  });
  expect([account.state.value, account.caller.value]).toEqual(["in", undefined]);
  const { root } = await drawAll(
    <AccountContext.Provider value={account}>
      <AccountMenu />
    </AccountContext.Provider>,
  );
  expect(root.textContent).toBe("");
});

it("a gateway of a service that refuses the page is not asked again and again", async () => {
  const { calls } = await followed({
    "GET /account": { sign_in: false, signed_in: false },
    "GET /caller": () => problemOf(401, "no"),
  });
  await settled();
  expect(calls.map(({ route }) => route)).toEqual(["GET /account", "GET /caller"]);
});

it("whoever has signed in is shown with his roles, and can sign out", async () => {
  const { account } = await followed({ "GET /account": IN, "GET /caller": ADA });
  const { root } = await drawAll(
    <AccountContext.Provider value={account}>
      <AccountMenu />
    </AccountContext.Provider>,
  );
  expect(root.querySelector("summary")?.textContent).toBe("Ada Lovelace");
  expect(Array.from(root.querySelectorAll("dd"), (part) => part.textContent)).toEqual(["ada", "acme", "Auditor"]);
  expect(root.querySelector("button")?.textContent).toBe("Sign out");
});

it("that a gateway acts for a person is no role of his", async () => {
  const acted = { ...ADA, roles: ["CALLER_ROLE_ACT_FOR_USERS"] };
  const { account } = await followed({ "GET /account": IN, "GET /caller": acted });
  const { root } = await drawAll(
    <AccountContext.Provider value={account}>
      <AccountMenu />
    </AccountContext.Provider>,
  );
  expect(root.querySelector("dd:last-of-type")?.textContent).toBe("Those in your matters");
});

it("whoever has not signed in is asked to, and one whose session ends is asked again where he is", async () => {
  const answers: Record<string, unknown> = { "GET /account": OUT, "GET /matters": () => problemOf(401, "no") };
  const { account } = await followed(answers);
  expect(account.state.value).toBe("out");
  Object.assign(answers, { "GET /account": IN, "GET /caller": ADA });
  end();
  end = account.follow();
  await settled();
  expect(account.state.value).toBe("in");
  const { root } = await drawAll(
    <AccountContext.Provider value={account}>
      <SessionEnded />
    </AccountContext.Provider>,
  );
  expect(root.textContent).toBe("");
  answers["GET /account"] = OUT;
  await api.get("/matters").catch(() => undefined);
  await settled();
  expect(account.state.value).toBe("ended");
  expect(root.querySelector('[role="alert"]')?.textContent).toContain("what you have typed stays");
  expect(root.querySelector("a")?.getAttribute("href")).toBe("/sign-in?return_to=%23%2Fsigned-in");
  answers["GET /account"] = IN;
  window.dispatchEvent(new Event("focus"));
  await settled();
  expect([account.state.value, root.textContent]).toEqual(["in", ""]);
});

it("when somebody else signs in nothing of the one before is left", async () => {
  const answers: Record<string, unknown> = { "GET /account": IN, "GET /caller": ADA };
  const { account } = await followed(answers);
  sessionStorage.setItem("proviso.question.s", "secret");
  const reload = vi.spyOn(window.location, "reload").mockImplementation(() => undefined);
  account.state.value = "ended";
  answers["GET /caller"] = { ...ADA, user_id: "bob" };
  window.dispatchEvent(new Event("focus"));
  await settled();
  expect(reload).toHaveBeenCalledOnce();
  expect([sessionStorage.length, account.state.value]).toEqual([0, "ended"]);
});

it("a sign-in leads back to where the person is, and a failed one is told", async () => {
  expect(signInAddress("#/chat/s?matter=m")).toBe("/sign-in?return_to=%23%2Fchat%2Fs%3Fmatter%3Dm");
  expect(signInAddress("")).toBe("/sign-in?return_to=%23%2F");
  window.history.replaceState(undefined, "", "?sign_in=failed");
  const { root } = await drawAll(<SignIn />);
  expect(root.querySelector('[role="alert"]')?.textContent).toContain("not completed");
  window.history.replaceState(undefined, "", "?");
});
