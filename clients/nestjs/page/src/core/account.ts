import { signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { SIGNED_OUT, api } from "./api.js";
import type { Caller } from "./contract.js";

/** Where the gateway has a person sign in. */
export const SIGN_IN = "/sign-in";
/** The place that a sign-in in a tab of its own leads back to. */
export const SIGNED_IN_PLACE = "#/signed-in";

const CHANNEL = "proviso-account";

/** What the gateway says of this browser. */
interface GatewayAccount {
  sign_in: boolean;
  signed_in: boolean;
  name?: string;
}

/** The address that signs in and then comes back to a place of the page. */
export function signInAddress(place: string): string {
  return `${SIGN_IN}?${new URLSearchParams({ return_to: place || "#/" }).toString()}`;
}

/** Tells the page's other tabs that somebody has signed in. */
export function announceSignedIn(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage("signed in");
  channel.close();
}

/** Who is at the page. */
export class Account {
  /**
   * `out`: the person has to sign in first. `ended`: he has to do so again; the page stays as it is meanwhile.
   */
  readonly state = signal<"in" | "out" | "ended">("in");
  /** Whom the service takes the page for; undefined until that is known, and where it asks nobody who he is. */
  readonly caller = signal<Caller | undefined>(undefined);
  /** What the person is called. */
  readonly name = signal("");
  /** Whether the person has signed in here, and so can sign out. */
  readonly canSignOut = signal(false);

  private isLooking = false;

  /** Asks who is here, now and whenever a sign-in may have ended or been made; returns what ends that. */
  follow(): () => void {
    const look = (): void => void this.look();
    const channel = new BroadcastChannel(CHANNEL);
    channel.addEventListener("message", look);
    window.addEventListener(SIGNED_OUT, look);
    window.addEventListener("focus", this.lookAgain);
    look();
    return () => {
      channel.close();
      window.removeEventListener(SIGNED_OUT, look);
      window.removeEventListener("focus", this.lookAgain);
    };
  }

  /** Ends the session, here and with the provider. Throws ApiError. */
  async signOut(): Promise<void> {
    const { end_session_url: url } = await api.post<{ end_session_url?: string }>("/sign-out");
    sessionStorage.clear();
    window.location.assign(url ?? "/");
  }

  private readonly lookAgain = (): void => {
    if (this.state.peek() === "ended") void this.look();
  };

  /** One look at a time: that its own calls are refused is no reason for another. */
  private async look(): Promise<void> {
    if (this.isLooking) return;
    this.isLooking = true;
    try {
      await this.find();
    } finally {
      this.isLooking = false;
    }
  }

  private async find(): Promise<void> {
    const account = await api.get<GatewayAccount>("/account").catch(() => undefined);
    if (account?.sign_in && !account.signed_in) {
      this.state.value = this.canSignOut.peek() ? "ended" : "out";
      return;
    }
    const known = this.caller.peek();
    const caller = await api.get<Caller>("/caller").catch(() => undefined);
    if (!account || !caller?.authenticated) return;
    if (known && (known.user_id !== caller.user_id || known.tenant !== caller.tenant)) {
      startAnew();
      return;
    }
    this.caller.value = caller;
    this.name.value = account.name ?? caller.user_id;
    this.canSignOut.value = account.sign_in;
    this.state.value = "in";
  }
}

/** Somebody else has signed in: nothing of what the page shows, or keeps, is his. */
function startAnew(): void {
  sessionStorage.clear();
  window.location.hash = "";
  window.location.reload();
}

export const AccountContext = createContext<Account | undefined>(undefined);

/** The account of the page; undefined in a part that is drawn without one. */
export function useAccount(): Account | undefined {
  return useContext(AccountContext);
}
