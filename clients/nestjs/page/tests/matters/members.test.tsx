import { act } from "preact/test-utils";
import { afterEach, expect, it, vi } from "vitest";
import type { Matter, Member } from "../../src/core/contract.js";
import { Members } from "../../src/matters/Members.js";
import { gatewayWith, problemOf } from "../support/gateway.js";
import { click, drawAll } from "../support/page.js";

const MATTER = { matter_id: "m", name: "Lease", document_count: 0, ready_count: 0, notes: "" };
const ADA: Member = { user_id: "ada", role: "MATTER_ROLE_OWNER" };
const BOB: Member = { user_id: "bob", role: "MATTER_ROLE_READER" };

afterEach(() => {
  vi.unstubAllGlobals();
  document.body.replaceChildren();
});

async function opened(
  members: Member[],
  answers: Record<string, unknown> = {},
  role: Matter["role"] = "MATTER_ROLE_OWNER",
): Promise<{ root: HTMLElement; calls: ReturnType<typeof gatewayWith>; onOwnChange: ReturnType<typeof vi.fn> }> {
  const calls = gatewayWith({ "GET /matters/m/members": { members, next_page_token: "" }, ...answers });
  const onOwnChange = vi.fn();
  const { root } = await drawAll(<Members matter={{ ...MATTER, role }} self="ada" onOwnChange={onOwnChange} />);
  const details = root.querySelector("details");
  await act(async () => {
    if (details) details.open = true;
    details?.dispatchEvent(new Event("toggle"));
    await new Promise((resolve) => setTimeout(resolve));
  });
  await act(() => new Promise((resolve) => setTimeout(resolve)));
  return { root, calls, onOwnChange };
}

function rows(root: HTMLElement): string[] {
  return Array.from(root.querySelectorAll(".member"), (row) => {
    const role = row.querySelector("select")?.value ?? row.querySelector(".member-role")?.textContent ?? "";
    return [row.querySelector(".member-name")?.textContent, role, row.querySelector("button")?.title].join(" ").trim();
  });
}

async function choose(root: HTMLElement, label: string, role: string): Promise<void> {
  const select = root.querySelector<HTMLSelectElement>(`[aria-label="${label}"]`);
  if (!select) throw new Error(`There is no choice ${label}`);
  await act(async () => {
    select.value = role;
    select.dispatchEvent(new Event("change"));
    await new Promise((resolve) => setTimeout(resolve));
  });
  await act(() => new Promise((resolve) => setTimeout(resolve)));
}

it("an owner is offered what he may do; the last owner stays", async () => {
  const { root } = await opened([ADA, BOB]);
  expect(rows(root)).toEqual(["ada Owner", "bob MATTER_ROLE_READER Remove"]);
  expect(root.querySelector(".add-member")).not.toBeNull();
});

it("of two owners each can be changed", async () => {
  const { root } = await opened([ADA, { ...BOB, role: "MATTER_ROLE_OWNER" }]);
  expect(rows(root)).toEqual(["ada MATTER_ROLE_OWNER Remove", "bob MATTER_ROLE_OWNER Remove"]);
});

it("others see the members and are offered nothing", async () => {
  const { root } = await opened([ADA, BOB], {}, "MATTER_ROLE_EDITOR");
  expect(rows(root)).toEqual(["ada Owner", "bob Reader"]);
  expect(root.querySelector(".add-member")).toBeNull();
});

it("nothing is asked for until somebody opens it", async () => {
  const calls = gatewayWith({});
  await drawAll(<Members matter={{ ...MATTER, role: "MATTER_ROLE_OWNER" }} self="ada" onOwnChange={vi.fn()} />);
  expect(calls).toEqual([]);
});

it("a member is added, gets another role, and is removed after a question", async () => {
  const carol = { user_id: "carol d", role: "MATTER_ROLE_EDITOR" };
  const { root, calls, onOwnChange } = await opened([ADA, BOB], {
    "PUT /matters/m/members/carol%20d": { member: carol },
    "PUT /matters/m/members/bob": { member: { ...BOB, role: "MATTER_ROLE_OWNER" } },
    "DELETE /matters/m/members/bob": () => new Response(null, { status: 204 }),
  });
  await choose(root, "Role of the new member", "MATTER_ROLE_EDITOR");
  const input = root.querySelector("input");
  await act(() => {
    if (input) input.value = " carol d ";
    input?.dispatchEvent(new Event("input"));
  });
  await act(async () => {
    root.querySelector("form")?.dispatchEvent(new Event("submit", { cancelable: true }));
    await new Promise((resolve) => setTimeout(resolve));
  });
  expect(calls.at(-1)).toMatchObject({ body: { role: "MATTER_ROLE_EDITOR" } });
  expect(rows(root)).toContain("carol d MATTER_ROLE_EDITOR Remove");
  await choose(root, "Role of bob", "MATTER_ROLE_OWNER");
  expect(calls.at(-1)).toMatchObject({ route: "PUT /matters/m/members/bob", body: { role: "MATTER_ROLE_OWNER" } });
  await click(root, "Remove bob");
  expect(root.querySelector("dialog")?.textContent).toContain("Remove bob from “Lease”?");
  await click(root, "Remove");
  expect(rows(root)).toEqual(["ada Owner", "carol d MATTER_ROLE_EDITOR Remove"]);
  expect(onOwnChange).not.toHaveBeenCalled();
});

it("what the service refuses is told in its words, and the box shows the role that holds", async () => {
  const owners = [ADA, { ...BOB, role: "MATTER_ROLE_OWNER" as const }];
  const { root } = await opened(owners, {
    "PUT /matters/m/members/bob": () => problemOf(412, "'bob' is the matter's only owner"),
  });
  await choose(root, "Role of bob", "MATTER_ROLE_READER");
  expect(root.querySelector('[role="alert"]')?.textContent).toBe("'bob' is the matter's only owner");
  expect(rows(root)).toContain("bob MATTER_ROLE_OWNER Remove");
});

it("whoever changes his own membership sees the matters as they are then", async () => {
  const { root, onOwnChange } = await opened([ADA, { ...BOB, role: "MATTER_ROLE_OWNER" }], {
    "DELETE /matters/m/members/ada": () => new Response(null, { status: 204 }),
  });
  await click(root, "Remove ada");
  expect(root.querySelector("dialog")?.textContent).toContain("You see nothing more");
  await click(root, "Remove");
  expect(onOwnChange).toHaveBeenCalledOnce();
});
