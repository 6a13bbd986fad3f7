import { describe, expect, it } from "vitest";
import { nearMatches, typedItem } from "../../src/context/session-items.js";

describe("near matches", () => {
  it("are the items that the service names, with either quotation mark", () => {
    const near_matches = "rule 'Plain language'\nreference \"Buyer's guide\"\ntool 'time:get_current_time'";
    expect(nearMatches({ near_matches })).toEqual([
      { type: "CONTEXT_ITEM_TYPE_RULE", name: "Plain language", server_name: "" },
      { type: "CONTEXT_ITEM_TYPE_REFERENCE", name: "Buyer's guide", server_name: "" },
      { type: "CONTEXT_ITEM_TYPE_TOOL", name: "get_current_time", server_name: "time" },
    ]);
  });

  it.each([[undefined], [{}], [{ near_matches: "something else" }]])("are none in %o", (metadata) => {
    expect(nearMatches(metadata)).toEqual([]);
  });
});

describe("an item that is typed", () => {
  it("has a server only where it is a tool", () => {
    expect(typedItem("CONTEXT_ITEM_TYPE_TOOL", " proviso:isaacus_iql ").server_name).toBe("proviso");
    expect(typedItem("CONTEXT_ITEM_TYPE_RULE", "Dates: periods").name).toBe("Dates: periods");
  });
});
