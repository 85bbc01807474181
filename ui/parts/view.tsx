import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

interface ViewProps {
  readonly title: string;
  /** Shown as the heading in place of `title`, which remains the title of the document. */
  readonly heading?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly class?: string;
}

/** The frame of a view: heading, actions, contents. */
export function View({ title, heading, actions, children, class: name = '' }: ViewProps) {
  useEffect(() => {
    document.title = `${title} · Capstan`;
  }, [title]);
  return (
    <main id="main" class={`view ${name}`} tabIndex={-1}>
      <header class="view-head">
        <h1 title={title}>{heading ?? title}</h1>
        <div class="view-actions">{actions}</div>
      </header>
      {children}
    </main>
  );
}

/** A failure, as its text. */
export function Problem({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  return (
    <div class="notice bad" role="alert">
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {retry !== undefined && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
