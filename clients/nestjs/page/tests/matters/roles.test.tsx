import { afterEach, expect, it, vi } from "vitest";
import type { Matter } from "../../src/core/contract.js";
import { MatterRow } from "../../src/matters/MatterRow.js";
import { DocumentRow } from "../../src/matters/DocumentRow.js";
import { mayEdit, mayOwn, roleWord } from "../../src/matters/roles.js";
import { drawAll } from "../support/page.js";

const MATTER = { matter_id: "m", name: "Lease", document_count: 0, ready_count: 0, notes: "" };

afterEach(() => {
  document.body.replaceChildren();
});

async function buttonsOf(role: Matter["role"]): Promise<string[]> {
  const { root } = await drawAll(
    <MatterRow
      matter={{ ...MATTER, role }}
      selected={false}
      uploading={0}
      onSelect={vi.fn()}
      onRename={vi.fn()}
      onDelete={vi.fn()}
    />,
  );
  return [...root.querySelectorAll("button, .pill")].map((part) => part.getAttribute("title") ?? part.textContent);
}

it("a matter offers what its role allows, and says a role that is not the owner's", async () => {
  expect(await buttonsOf("MATTER_ROLE_OWNER")).toEqual(["Lease", "Rename", "Delete"]);
  expect(await buttonsOf("MATTER_ROLE_EDITOR")).toEqual(["Lease", "Editor", "Rename"]);
  expect(await buttonsOf("MATTER_ROLE_READER")).toEqual(["Lease", "Reader"]);
});

it("a reader is not offered to delete a document", async () => {
  const document = { document_id: "d", matter_id: "m", filename: "a.md", status: "DOCUMENT_STATUS_READY" };
  const event = { document, chunks_done: 0, chunks_total: 0 } as Parameters<typeof DocumentRow>[0]["event"];
  const { root } = await drawAll(
    <DocumentRow event={event} chosen={false} opened={false} onOpen={vi.fn()} onChoose={vi.fn()} />,
  );
  expect(root.querySelector('[aria-label="Delete a.md"]')).toBeNull();
});

it("a role of a later service is left to the service", () => {
  const later = { role: "MATTER_ROLE_UNSPECIFIED" } as const;
  expect([roleWord(later), mayEdit(later), mayOwn(later)]).toEqual(["", true, true]);
});
