import { useNavigation } from "../core/navigation.js";
import { OpenedDocument } from "./OpenedDocument.js";
import "./viewer.css";

/** The text of the document that was opened, at the place that was cited. */
export function Viewer() {
  const place = useNavigation().openedDocument.value;
  return place && <OpenedDocument key={`${place.matterId}/${place.documentId}`} place={place} />;
}
