import { useSignal } from "@preact/signals";
import { useContext, useEffect, useMemo } from "preact/hooks";
import { Chat } from "../chat/Chat.js";
import { ConversationContext } from "../chat/opened-conversation.js";
import { Sessions } from "../chat/Sessions.js";
import { useAccount } from "../core/account.js";
import { Button } from "../core/components/index.js";
import { useNavigation } from "../core/navigation.js";
import type { View } from "../core/route.js";
import { Workbench } from "../iql/Workbench.js";
import { WorkbenchModel } from "../iql/workbench-model.js";
import { Matters } from "../matters/Matters.js";
import { AccountMenu } from "./AccountMenu.js";
import { SessionEnded, SignIn } from "./SignIn.js";
import { SideColumn } from "./SideColumn.js";

const MENU_ID = "menu";

/** The page, or in its place the way to sign in. */
export function App() {
  const account = useAccount();
  useEffect(() => account?.follow(), [account]);
  return account?.state.value === "out" ? <SignIn /> : <Page />;
}

/** Matters on the left, the view in the middle, what was opened on the right. */
function Page() {
  const navigation = useNavigation();
  const conversation = useContext(ConversationContext);
  const workbench = useMemo(() => new WorkbenchModel(), []);
  const menuOpen = useSignal(false);
  useEffect(() => navigation.listen(), [navigation]);
  useEffect(() => conversation?.follow(), [conversation]);
  const sessionId = navigation.sessionId.value;
  useEffect(() => {
    menuOpen.value = false;
  }, [menuOpen, sessionId]);
  const closeMenuOnEscape = (event: KeyboardEvent): void => {
    const isElsewhere = event.defaultPrevented || (event.target as Element).closest("dialog") !== null;
    if (event.key !== "Escape" || isElsewhere || !menuOpen.value) return;
    menuOpen.value = false;
    document.getElementById(MENU_ID)?.focus();
  };
  return (
    <div class="page">
      <header class="top" onKeyDown={closeMenuOnEscape}>
        <Button
          look="quiet"
          small
          id={MENU_ID}
          class="menu-button"
          aria-expanded={menuOpen.value}
          aria-controls="left"
          onClick={() => (menuOpen.value = !menuOpen.value)}
        >
          Matters
        </Button>
        <h1 class="wordmark">Proviso</h1>
        <nav class="tabs" aria-label="Views">
          <Tab view="chat" label="Ask" />
          <Tab view="iql" label="IQL workbench" />
        </nav>
        <AccountMenu />
        <SessionEnded />
      </header>
      <aside
        id="left"
        class={menuOpen.value ? "left" : "left left-closed"}
        aria-label="Matters and conversations"
        onKeyDown={closeMenuOnEscape}
      >
        <Matters />
        <Sessions />
      </aside>
      <main class="main">{navigation.view.value === "iql" ? <Workbench model={workbench} /> : <Chat />}</main>
      <SideColumn />
    </div>
  );
}

function Tab({ view, label }: { view: View; label: string }) {
  const navigation = useNavigation();
  const current = navigation.view.value === view;
  return (
    <button
      type="button"
      class="tab"
      aria-current={current ? "page" : undefined}
      onClick={() => {
        navigation.showView(view);
      }}
    >
      {label}
    </button>
  );
}
