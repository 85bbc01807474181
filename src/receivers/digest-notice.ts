import type { Notice } from './notice.ts';
import { viewUrl } from './notice-parts.ts';

/** Number of lines and images of a digest; every service shows as many. */
export const MAX_LINES = 8;
const MAX_IMAGES = 3;

/** Returns one notice for many, in their order. `more`: the number of others that are not given. */
export function digestNotice(notices: readonly Notice[], more = 0): Notice {
  const total = notices.length + more;
  const pages = new Set(notices.map(({ about }) => about)).size;
  const lines = notices
    .slice(0, MAX_LINES)
    .map(({ about, sentence }, at) => ({ label: String(at + 1), text: `${about}: ${sentence}` }));
  const left = total - lines.length;
  return {
    about: 'Capstan',
    sentence: `${total} messages about ${pages}${more > 0 ? ' or more' : ''} ${pages === 1 && more === 0 ? 'page' : 'pages'}`,
    isProblem: notices.some(({ isProblem }) => isProblem),
    facts: left === 0 ? lines : [...lines, { label: 'More', text: `and ${left} more` }],
    links: notices.slice(0, MAX_LINES).flatMap(({ links }, at) => {
      const [first] = links;
      return first === undefined ? [] : [{ label: `${first.label} ${at + 1}`, url: first.url }];
    }),
    images: notices.flatMap(({ images }) => images.slice(0, 1)).slice(0, MAX_IMAGES),
  };
}

/** Returns the notice by which a person tries a receiver. */
export function sampleNotice(receiver: string, publicUrl: string | null): Notice {
  return {
    about: 'Capstan',
    sentence: `This is a test message for the receiver ${receiver}`,
    isProblem: false,
    facts: [{ label: 'Example', text: 'Price fell from \u20ac59.00 to \u20ac47.50' }],
    links: publicUrl === null ? [] : [{ label: 'Watches', url: viewUrl(publicUrl, '/watches') }],
    images: [],
  };
}
