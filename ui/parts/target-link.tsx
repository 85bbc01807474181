import { safeHref } from './format.ts';

/** A captured URL: a link when its scheme is http or https, else plain text. */
export function TargetLink({ url }: { readonly url: string }) {
  const href = safeHref(url);
  if (href === undefined) return <span class="url">{url}</span>;
  return (
    <a class="url" href={href} target="_blank" rel="noreferrer noopener">
      {url}
    </a>
  );
}
