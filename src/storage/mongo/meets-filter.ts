import type { Result } from '../../capture/result.ts';
import type { ResultFilter } from '../ports/result-store.ts';
import { wantedChoices } from '../records/host-terms.ts';
import { hostKeys, hostRanges, matchesHost } from '../records/hosts.ts';
import { timeOf } from '../records/record.ts';
import { termsOf, wantedTerms } from '../records/terms.ts';
import { urlKeysOf, wantedUrlKeys } from '../records/url-keys.ts';

/** Whether a result meets a filter, apart from the words of its page. */
export function meetsFilter(result: Result, filter: ResultFilter): boolean {
  const { where = {}, ofKey } = filter;
  const wanted = wantedTerms(where, ofKey);
  const choices = wantedChoices(where);
  const terms = wanted.length + choices.length === 0 ? [] : termsOf(result);
  return (
    wanted.every((term) => terms.includes(term)) &&
    choices.every((choice) => choice.some((term) => terms.includes(term))) &&
    (where.from === undefined || timeOf(result.probed_at) >= timeOf(where.from)) &&
    isChosen(result, filter)
  );
}

function isChosen(result: Result, filter: ResultFilter): boolean {
  switch (filter.by) {
    case 'all':
      return true;
    case 'host':
      return matchesHost(hostKeys(result.host), hostRanges(filter.host));
    case 'url': {
      const wanted = wantedUrlKeys(filter);
      return urlKeysOf(result).some((key) => wanted.some((each) => Buffer.compare(each, key) === 0));
    }
  }
}
