import { computed, signal } from "@preact/signals";
import { ApiError, allPages, api, pathOf } from "../core/api.js";
import type { Matter, Member } from "../core/contract.js";

export type MatterRole = Exclude<Matter["role"], "MATTER_ROLE_UNSPECIFIED">;

interface MemberPage {
  members: Member[];
  next_page_token: string;
}

/** The members of a matter. */
export class MemberList {
  readonly members = signal<readonly Member[] | undefined>(undefined);
  /** Why they could not be loaded. */
  readonly failure = signal<ApiError | undefined>(undefined);
  private readonly owners = computed(
    () => this.members.value?.filter(({ role }) => role === "MATTER_ROLE_OWNER") ?? [],
  );

  constructor(readonly matterId: string) {}

  /** Loads the list anew. Does not throw. */
  async load(): Promise<void> {
    this.failure.value = undefined;
    try {
      this.members.value = await allPages(async (page_token) => {
        const page = await api.get<MemberPage>(this.path(), { query: { page_size: 100, page_token } });
        return { items: page.members, next_page_token: page.next_page_token };
      });
    } catch (error) {
      this.failure.value = ApiError.from(error);
    }
  }

  /** Whether a member is the only owner, who stays. */
  isLastOwner({ user_id: userId }: Member): boolean {
    const [only, another] = this.owners.value;
    return only?.user_id === userId && another === undefined;
  }

  /** Makes somebody a member, or gives a member another role. Throws ApiError; the list then is what it was. */
  async grant(userId: string, role: MatterRole): Promise<void> {
    const { member } = await api.put<{ member: Member }>(this.path(userId), { role });
    const others = (this.members.peek() ?? []).filter(({ user_id: id }) => id !== userId);
    this.members.value = [...others, member].sort((one, other) => one.user_id.localeCompare(other.user_id));
  }

  /** Ends a membership. Throws ApiError. */
  async revoke(userId: string): Promise<void> {
    await api.delete(this.path(userId));
    this.members.value = this.members.peek()?.filter(({ user_id: id }) => id !== userId);
  }

  private path(...user: string[]): string {
    return pathOf("matters", this.matterId, "members", ...user);
  }
}
