/** Evaluated in the page. Reads members of nodes, even when the page's element names shadow them. */
export const NODES = `(() => {
  const reader = (proto, name) => {
    const { get } = Object.getOwnPropertyDescriptor(proto, name);
    return (node) => get.call(node);
  };
  const caller = (proto, name) => (node, ...given) => proto[name].call(node, ...given);
  return {
    typeOf: reader(Node.prototype, 'nodeType'),
    parentOf: reader(Node.prototype, 'parentNode'),
    firstOf: reader(Node.prototype, 'firstChild'),
    nextOf: reader(Node.prototype, 'nextSibling'),
    childrenOf: reader(Element.prototype, 'children'),
    documentOf: reader(Node.prototype, 'ownerDocument'),
    textOf: reader(Node.prototype, 'textContent'),
    baseOf: reader(Node.prototype, 'baseURI'),
    htmlOf: reader(Element.prototype, 'outerHTML'),
    nameOf: reader(Element.prototype, 'localName'),
    shadowOf: reader(Element.prototype, 'shadowRoot'),
    hostOf: reader(ShadowRoot.prototype, 'host'),
    rootElementOf: reader(Document.prototype, 'documentElement'),
    windowOf: reader(Document.prototype, 'defaultView'),
    framed: reader(HTMLIFrameElement.prototype, 'contentDocument'),
    templated: reader(HTMLTemplateElement.prototype, 'content'),
    assigned: caller(HTMLSlotElement.prototype, 'assignedNodes'),
    slotOf: reader(Element.prototype, 'assignedSlot'),
    textSlotOf: reader(Text.prototype, 'assignedSlot'),
    attribute: caller(Element.prototype, 'getAttribute'),
    boxOf: caller(Element.prototype, 'getBoundingClientRect'),
    rectsOf: caller(Element.prototype, 'getClientRects'),
    rootOf: caller(Node.prototype, 'getRootNode'),
  };
})()`;
