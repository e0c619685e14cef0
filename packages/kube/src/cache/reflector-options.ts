import type { Clock } from '@berth/runtime/clock/clock';
import { errorText, type InputError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import type { BackoffLimits } from '@berth/runtime/loop/backoff';
import { groupResource, type KindInfo } from '../model/kinds.ts';
import type { KubeApi, ListOptions } from '../model/kube-api.ts';
import type { KubeObject } from '../model/object-meta.ts';

export interface ReflectorOptions extends ListOptions {
  readonly api: KubeApi;
  readonly kind: KindInfo;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  readonly backoff?: BackoffLimits;
  /** A stream that is silent for this long is opened again. Servers send a bookmark about every 60 s. */
  readonly silenceLimitMs?: number;
  readonly onError?: (error: unknown) => void;
  /** Awaited before each list and watch. When its number changes, the history is another one: lists again. */
  readonly historyOf?: (() => Promise<number>) | undefined;
  /** Called when the server has another history although its responses did not show it. The kind is listed again. */
  readonly onOtherHistory?: (() => Promise<void>) | undefined;
  /** Reduces each object to the parts that are kept. managedFields are always dropped. */
  readonly transform?: (object: KubeObject) => KubeObject;
}

export interface ReflectorPosition {
  /** Undefined before the first list, and if histories are not distinguished. */
  readonly history: number | undefined;
  readonly resourceVersion: string | undefined;
}

export interface WatchFailure {
  readonly verb: 'list' | 'watch';
  readonly error: InputError;
}

/**
 * The message for a kind that the hub refuses to list, and what the user can do.
 * @param rightsCommand what prints the rights that Berth needs
 */
export function refusedKindText(
  kind: KindInfo,
  { verb, error }: WatchFailure,
  rightsCommand: string | undefined,
): string {
  const resource = groupResource(kind);
  if (error.code !== 'kube.forbidden') return `${resource} cannot be read (${verb}): ${errorText(error)}`;
  const missing = `the right to ${verb} ${resource} in all namespaces is missing`;
  return rightsCommand === undefined
    ? missing
    : `${missing}: give it to Berth's service account, as ${rightsCommand} prints it`;
}
