import type { NoticeOf } from './messages.ts';

/** Makes news of an event that names its type. */
export const plainNotice: NoticeOf = async ({ type, url }) => ({
  sentence: String(type),
  isProblem: String(type).endsWith('failed'),
  facts: typeof url === 'string' ? [{ label: 'Page', text: url }] : [],
  links: [],
  images: [],
});
