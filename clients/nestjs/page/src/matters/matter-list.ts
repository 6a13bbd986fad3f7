import { signal } from "@preact/signals";
import { ApiError, allPages, api, pathOf } from "../core/api.js";
import type { Matter } from "../core/contract.js";

/** The caller's matters, newest first. */
export class MatterList {
  readonly matters = signal<readonly Matter[]>([]);
  readonly state = signal<"loading" | "loaded" | "failed">("loading");
  /** Why it could not be loaded, in words. */
  readonly failure = signal("");

  /** Loads the list anew. Does not throw; `state` and `failure` say what came of it. */
  async load(signal?: AbortSignal): Promise<void> {
    try {
      this.matters.value = await allMatters(signal);
      this.state.value = "loaded";
    } catch (error) {
      if (signal?.aborted) return;
      this.state.value = "failed";
      this.failure.value = ApiError.from(error).message;
    }
  }

  /** Makes a matter. Throws ApiError. */
  async create(name: string): Promise<Matter> {
    const { matter } = await api.post<{ matter: Matter }>("/matters", { name });
    this.matters.value = [matter, ...this.matters.value];
    return matter;
  }

  /** Gives a matter another name. Throws ApiError. */
  async rename(matterId: string, name: string): Promise<Matter> {
    const { matter } = await api.patch<{ matter: Matter }>(pathOf("matters", matterId), { name });
    this.matters.value = this.matters.value.map((known) => (known.matter_id === matterId ? matter : known));
    return matter;
  }

  /** Deletes a matter with its documents. Throws ApiError; one that is gone already counts as deleted. */
  async delete(matterId: string): Promise<void> {
    try {
      await api.delete(pathOf("matters", matterId));
    } catch (error) {
      if (ApiError.from(error).reason !== "MATTER_NOT_FOUND") throw error;
    }
    this.matters.value = this.matters.value.filter((matter) => matter.matter_id !== matterId);
  }
}

interface MatterPage {
  matters: Matter[];
  next_page_token: string;
}

function allMatters(signal: AbortSignal | undefined): Promise<Matter[]> {
  return allPages(async (token) => {
    const query = { page_size: 100, page_token: token };
    const page = await api.get<MatterPage>("/matters", signal ? { query, signal } : { query });
    return { items: page.matters, next_page_token: page.next_page_token };
  });
}
