import { Icon } from "../core/components/index.js";

export const PlusIcon = () => <Icon path="M8 3v10M3 8h10" />;
export const DeleteIcon = () => <Icon path="M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 9h6.8l.6-9M6.7 7v4M9.3 7v4" />;
export const AskIcon = () => <Icon path="M2.5 3.5h11v7.5H8L5 13.5V11H2.5z" />;
export const UploadIcon = () => <Icon path="M8 10.5V2.5M4.8 5.5L8 2.5l3.2 3M2.5 10v3.5h11V10" />;
export const CancelIcon = () => <Icon path="M4 4l8 8m0-8l-8 8" />;
