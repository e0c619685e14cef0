import type { SuiteName } from './peers/ocm-suite.ts';

/** A spec that passes on a real kube-apiserver and not on the embedded hub. */
export interface SpecException {
  readonly reason: string;
  /** It passes on the embedded hub at times: the spec is a race there. */
  readonly sometimesPasses?: boolean;
}

/** By the name of the spec. */
export const EXCEPTIONS: Readonly<Record<SuiteName, Readonly<Record<string, SpecException>>>> = {
  placement: {},
  work: {},
  registration: {
    'switch-hub › Hub1 is down and timeout › Should switch to hub2': {
      reason:
        'the agent looks once a minute whether its hub is gone, and the spec waits one minute after the hub has stopped; kube-apiserver takes some seconds to stop, and those are what the agent needs to join the other hub',
      sometimesPasses: true,
    },
  },
  addon: {},
};
