import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ResourceRequest } from '@berth/kube/request-info';
import { decodeBody, type DecodedBody } from '../body/decode-body.ts';
import { boundedWork } from '../wire/status-errors.ts';
import { negotiateForm, type ResponseForm } from '../wire/negotiate.ts';
import type { UserInfo } from '../wire/user-info.ts';
import type { Cluster } from './cluster.ts';

/** One authorised request, free of sockets. */
export interface RequestContext {
  readonly cluster: Cluster;
  readonly user: UserInfo;
  readonly query: URLSearchParams;
  readonly accept: string | undefined;
  readonly contentType: string;
  readonly userAgent: string;
  /**
   * Reads the body once.
   * @param limitBytes 3 MiB unless given.
   * @throws StatusError 408, 413, 429
   */
  readonly body: (limitBytes?: number) => Promise<Buffer>;
  /**
   * Runs a call of another server, and releases the seat meanwhile.
   * @throws StatusError 429 when no seat becomes free afterwards
   */
  readonly waitOutside: <T>(call: () => Promise<T>) => Promise<T>;
  /** Adds audit annotations of admission. */
  readonly annotate: (annotations: ReadonlyMap<string, string>) => void;
}

/** A request for a resource. */
export interface ResourceContext extends RequestContext {
  readonly info: ResourceRequest;
}

export function negotiatedForm(context: RequestContext): ResponseForm {
  return negotiateForm(context.accept);
}

/** After decoding a larger body, other requests run before the write. */
const LARGE_BODY_BYTES = 256 * 1024;

/**
 * Decodes the body of a request within a budget of its own.
 * @param type media type; '' means JSON
 * @throws StatusError 400, 413 or 415
 */
export async function decodeWithinBudget(
  bytes: Uint8Array,
  type: string,
  expect?: { readonly kind: string },
): Promise<DecodedBody> {
  const decoded = boundedWork(() => decodeBody(bytes, type, expect));
  if (bytes.length > LARGE_BODY_BYTES) await nextTurn();
  return decoded;
}
