/* The libraries that work on copies of a page, as far as scripts use them. Their own types need those of the DOM. */

declare module 'defuddle' {
  /** Finds the main content of a document. */
  export default class Defuddle {
    constructor(
      doc: import('./dom/dom.ts').LentNode,
      options: { readonly removeLowScoring: boolean; readonly url: string },
    );
    parse(): { readonly content: string };
  }
}

declare module 'turndown' {
  type Plugin = (turndown: Turndown) => void;

  /** Writes elements as Markdown. */
  export default class Turndown {
    constructor(options: {
      readonly headingStyle: 'atx';
      readonly codeBlockStyle: 'fenced';
      readonly emDelimiter: '*';
      readonly hr: string;
    });
    use(plugin: Plugin): void;
    addRule(
      name: string,
      rule: {
        readonly filter: string | readonly string[] | ((element: import('./dom/dom.ts').PageElement) => boolean);
        readonly replacement: (content: string, item: import('./dom/dom.ts').PageElement) => string;
      },
    ): void;
    remove(names: readonly string[]): void;
    escape(text: string): string;
    turndown(element: import('./dom/dom.ts').LentNode): string;
  }
}

declare module '@joplin/turndown-plugin-gfm' {
  export const gfm: (turndown: import('turndown').default) => void;
}
