import { createTargetPolicy, type TargetPolicy, type TargetPolicyOptions } from './address-policy.ts';

/** A policy whose lists may be replaced while it is in use; connections that are open stay. */
export interface LiveTargetPolicy extends TargetPolicy {
  /** @throws Error that names an invalid entry; the lists in force then stay. */
  replace(lists: Pick<TargetPolicyOptions, 'allow' | 'deny'>): void;
}

export function createLiveTargetPolicy(options: TargetPolicyOptions): LiveTargetPolicy {
  let policy = createTargetPolicy(options);
  return {
    judgeName: (name) => policy.judgeName(name),
    refuseAddress: (address, name) => policy.refuseAddress(address, name),
    replace: (lists) => {
      policy = createTargetPolicy({ ...options, ...lists });
    },
  };
}
