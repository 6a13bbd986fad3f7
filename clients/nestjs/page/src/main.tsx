import { render } from "preact";
import { App } from "./app/App.js";
import { Navigation, NavigationContext } from "./core/navigation.js";
import "./core/styles/tokens.css";
import "./core/styles/base.css";
import "./core/styles/components.css";
import "./core/styles/layout.css";

const root = document.getElementById("root");
if (root) {
  render(
    <NavigationContext.Provider value={new Navigation(window)}>
      <App />
    </NavigationContext.Provider>,
    root,
  );
}
