export { Disclosure } from "./Disclosure.js";
export { Button } from "./Button.js";
export { EmptyState } from "./EmptyState.js";
export { ErrorNote } from "./ErrorNote.js";
export { EditIcon, Icon } from "./icons.js";
export { NameForm } from "./NameForm.js";
export { Panel } from "./Panel.js";
export { Pill } from "./Pill.js";
export { Spinner } from "./Spinner.js";
