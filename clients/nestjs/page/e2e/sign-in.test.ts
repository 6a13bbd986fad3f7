import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TestProvider } from "../../tests/support/provider.js";
import { accessibilityFaults } from "./support/accessibility.js";
import { launch, openWindow } from "./support/browser.js";
import { LISTING, answer, answered, ask, script } from "./support/chat.js";
import { Stack } from "./support/stack.js";

const CHAT = script(LISTING, { tokens: ["Anything else?"] });

let stack: Stack;
let provider: TestProvider;
let restartGateway: () => Promise<void>;
let browser: Browser;

beforeAll(async () => {
  ({ stack, provider, restartGateway } = await Stack.startWithSignIn());
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
  await stack.stop();
  await provider.close();
});

/** Signs in with the provider's own pages, from the gateway's. */
async function signIn(page: Page, name: string): Promise<void> {
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByPlaceholder("Enter any login").fill(name);
  await page.getByPlaceholder("and password").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}

async function as(
  name: string,
  use: (page: Page, context: BrowserContext) => Promise<void>,
  place = "/",
): Promise<void> {
  const { page, context, faults } = await openWindow(browser);
  try {
    await page.goto(stack.url + place);
    await signIn(page, name);
    await page.getByText(`The person ${name}`).waitFor();
    await use(page, context);
    expect(faults).toEqual([]);
  } finally {
    await context.close();
  }
}

async function newMatter(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "New matter" }).click();
  await page.getByLabel("Name of the matter").fill(name);
  await page.keyboard.press("Enter");
  await page.getByText("No documents yet").waitFor();
}

const member = (page: Page, name: string) =>
  page.getByRole("list", { name: "Members" }).getByRole("listitem").filter({ hasText: name });

it("a person signs in, is where he wanted to be, and is shown with his roles; the browser has no token", async () => {
  const { page, context } = await openWindow(browser);
  await page.goto(`${stack.url}/#/iql`);
  await page.getByText("Sign in to ask about your documents.").waitFor();
  expect(await accessibilityFaults(page)).toEqual([]);
  await context.close();
  await as(
    "ada",
    async (page, context) => {
      expect(page.url()).toBe(`${stack.url}/#/iql`);
      await page.getByText("The person ada").click();
      await page.getByText("Auditor").waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
      await page.keyboard.press("Escape");
      expect(await page.getByText("Auditor").isVisible()).toBe(false);
      const cookie = (await context.cookies()).find(({ name }) => name === "proviso");
      expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
      const kept = await page.evaluate(() => document.cookie + JSON.stringify([localStorage, sessionStorage]));
      expect(kept).not.toMatch(/proviso=|eyJ/);
    },
    "/#/iql",
  );
});

it("an owner manages the members of a matter, who see what their role allows", async () => {
  await as("ada", async (page) => {
    await newMatter(page, "Shared lease");
    await page.getByRole("heading", { name: "Members" }).click();
    await member(page, "ada").getByText("Owner").waitFor();
    await page.getByLabel("Add a member by the user’s id").fill("bob");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await member(page, "bob").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await as("bob", async (bobs) => {
      const row = bobs.locator(".matter", { hasText: "Shared lease" });
      await row.getByText("Reader").waitFor();
      await row.getByRole("button", { name: "Shared lease" }).click();
      await bobs.getByRole("heading", { name: "Members" }).click();
      await member(bobs, "ada").waitFor();
      expect(await bobs.getByLabel("Add a member by the user’s id").count()).toBe(0);
      expect(await bobs.getByRole("list", { name: "Members" }).getByRole("button").count()).toBe(0);
      const changed = page.waitForResponse((response) => response.request().method() === "PUT");
      await page.getByLabel("Role of bob").selectOption("Editor");
      expect((await changed).status()).toBe(200);
      await bobs.reload();
      await row.getByText("Editor").waitFor();
      await page.getByRole("button", { name: "Remove bob" }).click();
      await page.getByRole("button", { name: "Remove", exact: true }).click();
      await member(page, "bob").waitFor({ state: "detached" });
      await bobs.reload();
      await bobs.getByText("No matters yet").waitFor();
    });
  });
});

it("a conversation goes on while its tokens are replaced, and through the end of its session", async () => {
  await as("cy", async (page, context) => {
    await newMatter(page, "Long talk");
    await ask(page, CHAT);
    await answered(page);
    const before = provider.grants.filter((grant) => grant === "refresh_token").length;
    await expect
      .poll(async () => {
        await page.evaluate(() => fetch("/caller"));
        return provider.grants.filter((grant) => grant === "refresh_token").length;
      })
      .toBeGreaterThan(before);
    await ask(page, CHAT);
    await answered(page, 2);
    await restartGateway();
    await page.getByLabel("Your question").fill(CHAT);
    await page.keyboard.press("Enter");
    await page.getByText("Your session has ended.").waitFor();
    await page.getByText("Your question could not be sent. It waits below.").waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    const place = page.url();
    const opened = context.waitForEvent("page");
    await page.getByRole("link", { name: "Sign in" }).click();
    // The provider still knows him.
    const tab = await opened;
    await page.getByText("Your session has ended.").waitFor({ state: "detached" });
    expect([page.url(), await page.getByLabel("Your question").inputValue()]).toEqual([place, CHAT]);
    await page.locator(".composer").getByRole("button", { name: "Ask" }).click();
    await answered(page, 3);
    expect(await answer(page)).toBe("Anything else?");
    await tab.close();
  });
});

it("whoever signs out has to sign in again", async () => {
  await as("dan", async (page) => {
    await page.getByText("The person dan").click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: /^Yes/ }).click();
    await page.getByText("Sign in to ask about your documents.").waitFor();
    expect(new URL(page.url()).origin).toBe(stack.url);
    await page.getByRole("link", { name: "Sign in" }).click();
    await page.getByPlaceholder("Enter any login").waitFor();
  });
});
