import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useAccount } from "../core/account.js";
import type { Account } from "../core/account.js";
import { Button, Disclosure, ErrorNote, Pill } from "../core/components/index.js";
import type { Caller, CallerRole } from "../core/contract.js";

/** What a person may do beyond the matters' own roles. That a gateway acts for him is no right of his. */
const ROLE_WORDS: Readonly<Partial<Record<CallerRole, string>>> = {
  CALLER_ROLE_ADMIN: "Administrator",
  CALLER_ROLE_AUDITOR: "Auditor",
  CALLER_ROLE_OPERATOR: "Operator",
};

/** The caller's roles, in words. */
export function roleWords({ roles }: Caller): string[] {
  return roles.flatMap((role) => ROLE_WORDS[role] ?? []);
}

/** Who is here, with what roles, and the way out; nothing where the service asks nobody who he is. */
export function AccountMenu() {
  const account = useAccount();
  const caller = account?.caller.value;
  return account && caller ? <Menu account={account} caller={caller} /> : null;
}

function Menu({ account, caller }: { account: Account; caller: Caller }) {
  const isOpen = useSignal(false);
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const closeElsewhere = ({ target }: Event): void => {
      if (target instanceof Node && !menu.current?.contains(target)) isOpen.value = false;
    };
    document.addEventListener("click", closeElsewhere);
    return () => {
      document.removeEventListener("click", closeElsewhere);
    };
  }, [isOpen]);
  const words = roleWords(caller);
  return (
    <div
      class="account"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen.value) return;
        event.preventDefault();
        isOpen.value = false;
        menu.current?.querySelector("summary")?.focus();
      }}
    >
      <Disclosure summary={account.name.value} isOpen={isOpen.value} onToggle={(open) => (isOpen.value = open)}>
        <dl class="account-facts">
          <dt>User</dt>
          <dd>{caller.user_id}</dd>
          <dt>Tenant</dt>
          <dd>{caller.tenant}</dd>
          <dt>Roles</dt>
          <dd>{words.length > 0 ? words.map((word) => <Pill key={word}>{word}</Pill>) : "Those in your matters"}</dd>
        </dl>
        {account.canSignOut.value && <SignOut account={account} />}
      </Disclosure>
    </div>
  );
}

function SignOut({ account }: { account: Account }) {
  const failure = useSignal<unknown>(undefined);
  const signOut = async (): Promise<void> => {
    failure.value = undefined;
    try {
      await account.signOut();
    } catch (error) {
      failure.value = error;
    }
  };
  return (
    <>
      {failure.value !== undefined && <ErrorNote error={failure.value} />}
      <Button small onClick={() => void signOut()}>
        Sign out
      </Button>
    </>
  );
}
