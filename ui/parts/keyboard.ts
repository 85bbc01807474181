/** Returns whether the key goes into a field, so that it must not be taken as a command. */
export function isTyping({ target }: KeyboardEvent): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('input:not([type=range]), textarea, select, dialog') !== null)
  );
}
