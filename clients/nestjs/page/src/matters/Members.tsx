import { useSignal } from "@preact/signals";
import { useEffect, useId, useMemo } from "preact/hooks";
import { Button, Disclosure, ErrorNote, Pill, Spinner } from "../core/components/index.js";
import type { Matter, Member } from "../core/contract.js";
import { ConfirmDialog } from "./ConfirmDialog.js";
import { CancelIcon } from "./icons.js";
import { MemberList } from "./members.js";
import type { MatterRole } from "./members.js";
import { MEMBER_ROLES, mayOwn } from "./roles.js";

/** The contract's limit for the ids of users. */
const MOST_CHARACTERS = 128;

interface MembersProps {
  matter: Matter;
  /** The id of whoever is at the page. */
  self: string;
  /** What the person may do in the matter is not what it was. */
  onOwnChange: () => void;
}

/** Who may see a matter, and who may do what in it; its owners change that. */
export function Members({ matter, self, onOwnChange }: MembersProps) {
  const isOpen = useSignal(false);
  return (
    <Disclosure
      class="members"
      summary={<h2>Members</h2>}
      isOpen={isOpen.value}
      onToggle={(open) => (isOpen.value = open)}
    >
      {isOpen.value && <MemberRows matter={matter} self={self} onOwnChange={onOwnChange} />}
    </Disclosure>
  );
}

function MemberRows({ matter, self, onOwnChange }: MembersProps) {
  const titleId = useId();
  const list = useMemo(() => new MemberList(matter.matter_id), [matter.matter_id]);
  const removing = useSignal<Member | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  useEffect(() => void list.load(), [list]);
  const change = async (userId: string, role: MatterRole): Promise<void> => {
    failure.value = undefined;
    try {
      await list.grant(userId, role);
      if (userId === self) onOwnChange();
    } catch (error) {
      failure.value = error;
      // What the box shows is what the person chose, and not what holds.
      await list.load();
    }
  };
  if (list.failure.value) return <ErrorNote error={list.failure.value} onRetry={() => void list.load()} />;
  if (!list.members.value) return <Spinner label="Loading the members" showLabel />;
  return (
    <>
      <ul class="member-list" aria-label="Members" id={titleId} tabIndex={-1}>
        {list.members.value.map((member) => (
          <MemberRow
            key={member.user_id}
            member={member}
            isSelf={member.user_id === self}
            isFixed={!mayOwn(matter) || list.isLastOwner(member)}
            onRole={(role) => change(member.user_id, role)}
            onRemove={() => (removing.value = member)}
          />
        ))}
      </ul>
      {failure.value !== undefined && <ErrorNote error={failure.value} />}
      {mayOwn(matter) && <AddMember onAdd={(userId, role) => list.grant(userId, role)} />}
      {removing.value && (
        <ConfirmDialog
          question={`Remove ${removing.value.user_id} from “${matter.name}”?`}
          consequence={
            removing.value.user_id === self
              ? "You see nothing more of this matter then."
              : "Nothing of this matter can be seen under this id then. Earlier answers stay."
          }
          action="Remove"
          focusNext={titleId}
          onConfirm={async () => {
            const userId = removing.value?.user_id ?? "";
            await list.revoke(userId);
            if (userId === self) onOwnChange();
          }}
          onClose={() => (removing.value = undefined)}
        />
      )}
    </>
  );
}

interface MemberRowProps {
  member: Member;
  isSelf: boolean;
  /** Whether the person may not change this one. */
  isFixed: boolean;
  onRole: (role: MatterRole) => Promise<void>;
  onRemove: () => void;
}

function MemberRow({ member, isSelf, isFixed, onRole, onRemove }: MemberRowProps) {
  const { user_id: userId, role } = member;
  return (
    <li class="member">
      <span class="member-name">{userId}</span>
      {isSelf && <Pill>you</Pill>}
      {isFixed ? (
        <span class="member-role">{MEMBER_ROLES.find(([each]) => each === role)?.[1]}</span>
      ) : (
        <>
          <RoleChoice label={`Role of ${userId}`} role={role} onRole={(chosen) => void onRole(chosen)} />
          <Button look="quiet" small aria-label={`Remove ${userId}`} title="Remove" onClick={onRemove}>
            <CancelIcon />
          </Button>
        </>
      )}
    </li>
  );
}

function RoleChoice(props: { label: string; role: Matter["role"]; onRole: (role: MatterRole) => void }) {
  return (
    <select
      class="field member-role"
      aria-label={props.label}
      value={props.role}
      onChange={(event) => {
        props.onRole(event.currentTarget.value as MatterRole);
      }}
    >
      {MEMBER_ROLES.map(([role, word]) => (
        <option key={role} value={role}>
          {word}
        </option>
      ))}
    </select>
  );
}

/** Makes somebody a member by his id: which ids there are, the identity provider knows alone. */
function AddMember({ onAdd }: { onAdd: (userId: string, role: MatterRole) => Promise<void> }) {
  const id = useId();
  const userId = useSignal("");
  const role = useSignal<MatterRole>("MATTER_ROLE_READER");
  const busy = useSignal(false);
  const failure = useSignal<unknown>(undefined);
  const add = async (): Promise<void> => {
    busy.value = true;
    failure.value = undefined;
    try {
      await onAdd(userId.peek().trim(), role.peek());
      userId.value = "";
    } catch (error) {
      failure.value = error;
    } finally {
      busy.value = false;
    }
  };
  return (
    <form
      class="add-member"
      onSubmit={(event) => {
        event.preventDefault();
        if (!busy.value && userId.value.trim() !== "") void add();
      }}
    >
      <label for={id}>Add a member by the user’s id</label>
      <input
        id={id}
        class="field"
        maxLength={MOST_CHARACTERS}
        autoComplete="off"
        value={userId.value}
        onInput={(event) => (userId.value = event.currentTarget.value)}
      />
      <div class="row">
        <RoleChoice label="Role of the new member" role={role.value} onRole={(chosen) => (role.value = chosen)} />
        <Button small type="submit" disabled={busy.value || userId.value.trim() === ""}>
          Add
        </Button>
      </div>
      {failure.value !== undefined && <ErrorNote error={failure.value} />}
    </form>
  );
}
