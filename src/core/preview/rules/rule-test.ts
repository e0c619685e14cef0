import { kind } from '@berth/kube/model/kinds';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import type { WhatIfFlag } from '../what-if/parse-what-if.ts';

/**
 * A file in the user's repository with expected results of guard rules for changes. `berth test` runs it. It is never
 * applied.
 */
export const RULE_TEST = kind('berth.dev', 'v1alpha1', 'RuleTest', 'Cluster');

export interface RuleTest {
  readonly apiVersion: string;
  readonly kind: 'RuleTest';
  readonly metadata: ObjectMeta;
  readonly spec: RuleTestSpec;
}

export interface RuleTestSpec {
  /** Folder or file with the fleet, relative to the test file. */
  readonly fleet: string;
  /** File with the rules, relative to the test file. Absent: the first `.berth/rules.yaml` in its folder or one above. */
  readonly rules?: string | undefined;
  /** RFC 3339 instant of the plans. Absent: the start of the run. */
  readonly now?: string | undefined;
  readonly cases: readonly RuleTestCase[];
}

/** One change of the fleet, and the expected results of the rules for its plan. */
export interface RuleTestCase extends FleetChange {
  readonly name: string;
  /** Assumptions about clusters, as in the flags of `berth plan`. */
  readonly assume?: Readonly<Partial<Record<WhatIfFlag, readonly string[]>>> | undefined;
  readonly expect: RuleExpectation;
}

/** The change of a fleet, applied in the order of the fields. */
export interface FleetChange {
  /** Objects that are removed. */
  readonly remove?: readonly ChangeTarget[] | undefined;
  /** JSON merge patches (RFC 7386). */
  readonly patches?: readonly { readonly target: ChangeTarget; readonly patch: object }[] | undefined;
  /**
   * Folder or file with objects that are added. They replace objects of the same kind and name. Relative to the test
   * file.
   */
  readonly overlay?: string | undefined;
  /** The same, in the test file. */
  readonly objects?: readonly KubeObject[] | undefined;
}

export interface ChangeTarget {
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface RuleExpectation {
  /** What all rules say together: `warn` if only rules that warn are broken. */
  readonly verdict?: RuleVerdict | undefined;
  /** Names of rules that are kept. */
  readonly kept?: readonly string[] | undefined;
  /** Names of rules that are broken. */
  readonly broken?: readonly string[] | undefined;
  /** Texts that the message of a rule contains, by the name of the rule; each of them is broken, too. */
  readonly messages?: Readonly<Record<string, string>> | undefined;
}

export type RuleVerdict = 'allow' | 'warn' | 'deny';
