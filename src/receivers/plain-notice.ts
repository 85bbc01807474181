import type { NoticeOf } from './messages.ts';

/** Makes news of an event that names its type. */
export const plainNotice: NoticeOf = async ({ type, url }) => ({
  about: typeof url === 'string' ? url : 'Capstan',
  sentence: String(type),
  isProblem: String(type).endsWith('failed'),
  facts: [],
  links: [],
  images: [],
});
