import { allPages, api, pathOf } from "../core/api.js";
import type { CatalogItem, ItemRef, RemovalSuggestion, Session } from "../core/contract.js";
import { ITEM_TYPES, TYPE_WORDS } from "./item-words.js";

function itemsPath(sessionId: string): string {
  return `${pathOf("sessions", sessionId)}/context-items`;
}

/** Adds an item to the session, and answers with the session. Throws ApiError; CONTEXT_ITEM_NOT_FOUND has near matches. */
export async function addItem(sessionId: string, item: ItemRef): Promise<Session> {
  const { type, name, server_name } = item;
  return (await api.post<{ session: Session }>(itemsPath(sessionId), { type, name, server_name })).session;
}

/** Removes an item from the session, and answers with the session. Throws ApiError. */
export async function removeItem(sessionId: string, item: ItemRef): Promise<Session> {
  const { type, name, server_name } = item;
  const query = { type, name, server_name };
  return (await api.delete<{ session: Session }>(itemsPath(sessionId), { query })).session;
}

/** Items that the session's answers have never used. Throws ApiError. */
export async function suggestedRemovals(sessionId: string): Promise<readonly RemovalSuggestion[]> {
  const path = `${pathOf("sessions", sessionId)}/suggested-removals`;
  return (await api.get<{ suggestions: RemovalSuggestion[] }>(path)).suggestions;
}

/** The catalog's items. Throws ApiError. */
export function catalogItems(): Promise<CatalogItem[]> {
  return allPages((page_token) =>
    api.get<{ items: CatalogItem[]; next_page_token: string }>("/catalog/items", {
      query: { page_size: 100, page_token },
    }),
  );
}

/** Items that may have been meant, from the metadata of CONTEXT_ITEM_NOT_FOUND, a line each: "rule 'Plain language'". */
export function nearMatches(metadata: Record<string, string> | undefined): ItemRef[] {
  return (metadata?.near_matches ?? "").split("\n").flatMap((line) => itemOf(line) ?? []);
}

/** An item as a person types it, a tool with its server: "proviso:isaacus_iql". */
export function typedItem(type: ItemRef["type"], text: string): ItemRef {
  const typed = text.trim();
  const colon = type === "CONTEXT_ITEM_TYPE_TOOL" ? typed.indexOf(":") : -1;
  return { type, name: typed.slice(colon + 1), server_name: colon < 0 ? "" : typed.slice(0, colon) };
}

function itemOf(line: string): ItemRef | undefined {
  const found = /^(\w+) (['"])(.+)\2$/.exec(line);
  const type = ITEM_TYPES.find((known) => TYPE_WORDS[known].one === found?.[1]);
  return type && found?.[3] !== undefined ? typedItem(type, found[3]) : undefined;
}
