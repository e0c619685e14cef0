import type { SuiteName } from './peers/ocm-suite.ts';

/** Specs that pass on a real kube-apiserver and not on the embedded hub, by name, each with its reason. */
export const EXCEPTIONS: Readonly<Record<SuiteName, Readonly<Record<string, string>>>> = {
  placement: {},
  work: {},
  registration: {},
  addon: {},
};
