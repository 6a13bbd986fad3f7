import { useSignal } from "@preact/signals";
import { useConversation } from "../chat/opened-conversation.js";
import { Button, Disclosure, EmptyState, ErrorNote, Panel, Pill } from "../core/components/index.js";
import type { ItemRef, Session, SessionItem } from "../core/contract.js";
import { useNavigation } from "../core/navigation.js";
import { AddItem } from "./AddItem.js";
import { ItemLink, ModePill, SectionTitle } from "./ItemSections.js";
import { itemKey, itemName, ITEM_TYPES, TYPE_WORDS } from "./item-words.js";
import { ItemText } from "./ItemText.js";
import { removeItem } from "./session-items.js";
import { SuggestedRemovals } from "./SuggestedRemovals.js";
import { summaryLine } from "./summary.js";

/** The items that enter every request of the conversation: to look at, add and remove. */
export function SessionPanel() {
  const navigation = useNavigation();
  const { session } = useConversation();
  const item = useSignal<ItemRef | undefined>(undefined);
  const removals = useSignal(0);
  const close = (): void => {
    navigation.closeSide();
  };
  if (item.value) return <ItemText item={item.value} onBack={() => (item.value = undefined)} onClose={close} />;
  const counted = session.value?.items.map(({ item: { type }, include_mode }) => ({ type, include_mode }));
  return (
    <Panel
      title="Rules and tools"
      subtitle={counted ? summaryLine(counted) : undefined}
      onClose={close}
      focusOn={removals.value}
    >
      {session.value ? (
        <SessionParts
          session={session.value}
          onOpenItem={(opened) => (item.value = opened)}
          onRemoved={() => (removals.value += 1)}
        />
      ) : (
        <EmptyState title="Nothing here yet">The first question begins the conversation.</EmptyState>
      )}
    </Panel>
  );
}

interface SessionPartsProps {
  session: Session;
  onOpenItem: (item: ItemRef) => void;
  /** An item is gone, and with it the button that had the focus. */
  onRemoved: () => void;
}

function SessionParts({ session, onOpenItem, onRemoved }: SessionPartsProps) {
  const conversation = useConversation();
  const failure = useSignal<unknown>(undefined);
  const remove = async (item: ItemRef): Promise<void> => {
    failure.value = undefined;
    try {
      conversation.take(await removeItem(session.session_id, item));
      onRemoved();
    } catch (error) {
      failure.value = error;
    }
  };
  return (
    <div class="context-parts">
      <p class="item-note">These enter every question of this conversation, from the next one on.</p>
      <AddItem session={session} />
      {failure.value !== undefined && <ErrorNote error={failure.value} />}
      <SuggestedRemovals session={session} onRemove={(item) => void remove(item)} />
      {ITEM_TYPES.map((type) => {
        const own = session.items.filter(({ item }) => item.type === type);
        if (own.length === 0) return null;
        return (
          <Disclosure
            key={type}
            class="section"
            isOpen
            summary={<SectionTitle title={TYPE_WORDS[type].title} count={own.length} />}
          >
            <ul class="items">
              {own.map((own) => (
                <SessionItemRow
                  key={itemKey(own.item)}
                  item={own}
                  onOpen={onOpenItem}
                  onRemove={() => void remove(own.item)}
                />
              ))}
            </ul>
          </Disclosure>
        );
      })}
      <ApprovedTools tools={session.approved_tools} />
    </div>
  );
}

interface SessionItemRowProps {
  item: SessionItem;
  onOpen: (item: ItemRef) => void;
  onRemove: () => void;
}

function SessionItemRow({ item: { item, include_mode, missing }, onOpen, onRemove }: SessionItemRowProps) {
  return (
    <li class="item" data-item={itemKey(item)}>
      <div class="item-line">
        <ItemLink item={item} onOpen={onOpen} />
        {missing && (
          <Pill tone="warning" title="It has left the catalog">
            Missing
          </Pill>
        )}
        <ModePill mode={include_mode} />
        <Button small look="quiet" aria-label={`Remove ${itemName(item)}`} onClick={onRemove}>
          Remove
        </Button>
      </div>
    </li>
  );
}

function ApprovedTools({ tools }: { tools: readonly ItemRef[] }) {
  if (tools.length === 0) return null;
  return (
    <section class="context-block" aria-labelledby="approved-title">
      <h3 id="approved-title">Approved for this conversation</h3>
      <ul>
        {tools.map((tool) => (
          <li key={itemKey(tool)}>{itemName(tool)}</li>
        ))}
      </ul>
    </section>
  );
}
