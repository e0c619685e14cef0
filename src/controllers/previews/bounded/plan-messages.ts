import { BerthError, errorText, InputError, TransientError } from '@berth/runtime/errors';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { ListOptions, ObjectKey } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { TriedObject } from '../held/hub-trials.ts';
import type { PlannedRevisions } from '../plan-revisions.ts';

/** A read of the hub, or a question to it, for which the controller's process sends the request. */
export type HubRead =
  | { readonly method: 'get'; readonly kind: KindInfo; readonly key: ObjectKey }
  | { readonly method: 'list'; readonly kind: KindInfo; readonly options: ListOptions | undefined }
  | { readonly method: 'heads'; readonly kind: KindInfo }
  | { readonly method: 'resolve'; readonly apiVersion: string; readonly kind: string }
  | { readonly method: 'try-apply'; readonly tried: TriedObject }
  | { readonly method: 'try-delete'; readonly object: KubeObject };

/** A message from the process that plans. */
export type PlannerMessage =
  | { readonly type: 'read-hub'; readonly id: number; readonly read: HubRead }
  | { readonly type: 'planned'; readonly planned: PlannedRevisions }
  | { readonly type: 'failed'; readonly error: SentError };

/** The response to `read-hub`. It is sent to the process that plans, after its job. */
export type HubResponse = { readonly type: 'hub-response'; readonly id: number } & (
  | { readonly value: unknown }
  | { readonly error: SentError }
);

/** An error in a form that can be sent to another process. */
export interface SentError {
  readonly kind: 'input' | 'transient' | 'other';
  readonly code: string;
  readonly subject: string;
  /** The message without its subject. */
  readonly problem: string;
  readonly hint: string | undefined;
}

export function sentError(error: unknown): SentError {
  if (!(error instanceof BerthError))
    return {
      kind: 'other',
      code: 'plan.failed',
      subject: 'Plan',
      problem: errorText(error),
      hint: undefined,
    };
  const { code, subject, hint, message } = error;
  const front = `${subject}: `;
  const problem = message.startsWith(front) ? message.slice(front.length) : message;
  const kind =
    error instanceof InputError ? 'input' : error instanceof TransientError ? 'transient' : 'other';
  return { kind, code, subject, problem, hint };
}

export function receivedError({ kind, code, subject, problem, hint }: SentError): Error {
  const details = { code, subject, hint };
  if (kind === 'input') return new InputError(problem, details);
  return kind === 'transient' ? new TransientError(problem, details) : new Error(`${subject}: ${problem}`);
}
