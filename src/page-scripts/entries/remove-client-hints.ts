/** Removes the names of client hints from a document, which Safari and Firefox do not define. */
export function run(): void {
  const navigator: unknown = Reflect.get(globalThis, 'Navigator');
  if (typeof navigator === 'function') Reflect.deleteProperty(navigator.prototype, 'userAgentData');
  Reflect.deleteProperty(globalThis, 'NavigatorUAData');
}
