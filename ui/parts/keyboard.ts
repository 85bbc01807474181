/** Returns whether the key goes into a field, so that it must not be taken as a command. */
export function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('input:not([type=range]), textarea, select, dialog') !== null)
  );
}

/** Returns whether the key belongs to a shortcut of the browser or the system, such as Alt+Left for Back. */
export function isShortcut({ altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
  return altKey || ctrlKey || metaKey;
}
