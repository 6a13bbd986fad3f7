import { describe, expect, it } from "vitest";
import { Navigation } from "../../src/core/navigation.js";
import type { Place } from "../../src/core/navigation.js";
import { formatRoute, parseRoute } from "../../src/core/route.js";

/** A window's URL and history. */
class Address implements Place {
  location = { hash: "" };
  private readonly listeners = new Set<() => void>();
  history = {
    replaceState: (_: unknown, __: string, url: string): void => {
      this.location.hash = url;
    },
  };

  addEventListener(_: "hashchange", listener: () => void): void {
    this.listeners.add(listener);
  }

  removeEventListener(_: "hashchange", listener: () => void): void {
    this.listeners.delete(listener);
  }

  type(hash: string): void {
    this.location.hash = hash;
    for (const listener of this.listeners) listener();
  }
}

describe("the URL", () => {
  it.each([
    { view: "chat" as const },
    { view: "chat" as const, sessionId: "a/b?c#d e" },
    { view: "iql" as const, matterId: "m" },
    { view: "iql" as const, sessionId: "s", matterId: "m", documentId: "d" },
  ])("keeps %o", (route) => {
    expect(parseRoute(formatRoute(route))).toEqual(route);
  });

  it.each(["", "#", "#/", "#/nonsense", "#/chat/%E0%A4%A"])("%o is the chat", (hash) => {
    expect(parseRoute(hash)).toEqual({ view: "chat" });
  });
});

describe("navigation", () => {
  it("follows the URL and leads it", () => {
    const address = new Address();
    const navigation = new Navigation(address);
    const end = navigation.listen();
    navigation.selectMatter({ matterId: "m", name: "Northwind" });
    navigation.openSession("s");
    expect(address.location.hash).toBe("#/chat/s?matter=m");
    address.type("#/iql?matter=m");
    expect(navigation.view.value).toBe("iql");
    expect(navigation.selectedMatter.value).toEqual({ matterId: "m", name: "Northwind" });
    end();
    address.type("#/chat/other");
    expect(navigation.sessionId.value).toBeUndefined();
  });

  it("drops the document with its matter", () => {
    const navigation = new Navigation(new Address());
    navigation.selectMatter({ matterId: "m", name: "Northwind" });
    navigation.selectDocument({ documentId: "d", name: "nda.md" });
    navigation.selectMatter({ matterId: "n", name: "Other" });
    expect(navigation.selectedDocument.value).toBeUndefined();
  });

  it("forgets the names of what the URL has left", () => {
    const address = new Address();
    const navigation = new Navigation(address);
    navigation.listen();
    navigation.selectMatter({ matterId: "m", name: "Northwind" });
    address.type("#/chat?matter=n");
    expect(navigation.selectedMatter.value).toEqual({ matterId: "n", name: "" });
  });

  it("gives the focus back when the right column closes", () => {
    const button = document.body.appendChild(document.createElement("button"));
    const navigation = new Navigation(new Address());
    button.focus();
    navigation.openDocument({ matterId: "m", documentId: "d" });
    const side = document.body.appendChild(document.createElement("aside"));
    side.className = "side";
    side.appendChild(document.createElement("button")).focus();
    navigation.openDocument({ matterId: "m", documentId: "e", start: 1, end: 2 });
    expect(navigation.openedDocument.value?.documentId).toBe("e");
    navigation.closeSide();
    expect(document.activeElement).toBe(button);
  });
});
