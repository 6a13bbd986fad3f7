import { render } from "preact";
import { describe, expect, it } from "vitest";
import { Assets } from "../../src/context/Assets.js";
import type { AssetUse } from "../../src/core/contract.js";

function drawn(assets: AssetUse[]): HTMLElement {
  const root = document.createElement("div");
  render(<Assets assets={assets} />, root);
  return root;
}

describe("the files of a message", () => {
  it("are told with their kind, what was left out, and why", () => {
    const root = drawn([
      { kind: "ASSET_KIND_DOCUMENT", name: "lease.pdf", included: true, note: "", text: "A lease.", media_type: "" },
      {
        kind: "ASSET_KIND_IMAGE",
        name: "plan.png",
        included: false,
        note: "it is too large",
        text: "",
        media_type: "",
      },
    ]);
    const rows = Array.from(root.querySelectorAll(".item"), (row) =>
      Array.from(row.querySelectorAll(".item-name, .pill, .item-note"), (part) => part.textContent),
    );
    expect(rows).toEqual([
      ["lease.pdf", "Document", "A lease."],
      ["plan.png", "Image", "Left out", "it is too large"],
    ]);
    expect(root.querySelector("h3")?.textContent).toBe("Files (2)");
  });

  it("have no section where there are none", () => {
    expect(drawn([]).textContent).toBe("");
  });
});
