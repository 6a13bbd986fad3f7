import { useEffect } from "preact/hooks";
import { SIGNED_IN_PLACE, announceSignedIn, signInAddress, useAccount } from "../core/account.js";
import { ErrorNote } from "../core/components/index.js";

/** In the place of the page, while nobody has signed in. */
export function SignIn() {
  const hasFailed = new URLSearchParams(window.location.search).get("sign_in") === "failed";
  return (
    <main class="sign-in">
      <h1 class="wordmark">Proviso</h1>
      <p>Sign in to ask about your documents.</p>
      {hasFailed && <ErrorNote error="The sign-in was not completed. Try again." />}
      <a class="button button-primary" href={signInAddress(window.location.hash)}>
        Sign in
      </a>
    </main>
  );
}

/** In a tab of its own, when the sign-in there is done. */
export function SignedIn() {
  useEffect(() => {
    announceSignedIn();
    window.close();
  }, []);
  return (
    <main class="sign-in">
      <h1 class="wordmark">Proviso</h1>
      <p role="status">You are signed in. Close this tab, and go on where you were.</p>
    </main>
  );
}

/** Asks to sign in again, in another tab: what was typed here stays. */
export function SessionEnded() {
  if (useAccount()?.state.value !== "ended") return null;
  return (
    <div class="session-ended" role="alert">
      <p>Your session has ended. Sign in again to go on; what you have typed stays here.</p>
      <a class="button button-small" href={signInAddress(SIGNED_IN_PLACE)} target="_blank" rel="opener">
        Sign in
      </a>
    </div>
  );
}
