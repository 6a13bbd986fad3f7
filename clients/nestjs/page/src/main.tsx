import { render } from "preact";
import { App } from "./app/App.js";
import { SignedIn } from "./app/SignIn.js";
import { ConversationContext, OpenedConversation } from "./chat/opened-conversation.js";
import { PendingQuestions } from "./chat/pending-questions.js";
import { SessionList, SessionListContext } from "./chat/session-list.js";
import { Account, AccountContext, SIGNED_IN_PLACE } from "./core/account.js";
import { Navigation, NavigationContext } from "./core/navigation.js";
import "./core/styles/tokens.css";
import "./core/styles/base.css";
import "./core/styles/components.css";
import "./core/styles/layout.css";
import "./chat/chat.css";
import "./chat/sessions.css";
import "./context/context.css";

function start(root: HTMLElement): void {
  if (window.location.hash === SIGNED_IN_PLACE) {
    render(<SignedIn />, root);
    return;
  }
  const navigation = new Navigation(window);
  const sessions = new SessionList();
  const conversation = new OpenedConversation(navigation, sessions, new PendingQuestions(sessionStorage));
  render(
    <AccountContext.Provider value={new Account()}>
      <NavigationContext.Provider value={navigation}>
        <SessionListContext.Provider value={sessions}>
          <ConversationContext.Provider value={conversation}>
            <App />
          </ConversationContext.Provider>
        </SessionListContext.Provider>
      </NavigationContext.Provider>
    </AccountContext.Provider>,
    root,
  );
}

const root = document.getElementById("root");
if (root) start(root);
