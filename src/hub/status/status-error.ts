import { BerthError } from '../../core/errors.ts';
import type { JsonObject } from '../json/json-value.ts';
import { setOwn } from '../json/json-value.ts';

/** One entry of `details.causes` of a meta/v1 Status. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string | undefined;
  readonly group?: string | undefined;
  readonly kind?: string | undefined;
  readonly uid?: string | undefined;
  readonly causes?: readonly StatusCause[] | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/** A request that is answered with a meta/v1 Status instead of its result. `code` is `hub.` and the reason in lower case. */
export class StatusError extends BerthError {
  readonly httpCode: number;
  /** Machine-readable word of the Status; '' where the API server sends none. */
  readonly reason: string;
  /** The sentence alone, as clients print it. */
  readonly statusMessage: string;
  readonly details: StatusDetails | undefined;

  constructor(httpCode: number, reason: string, message: string, details?: StatusDetails) {
    super(message, { code: `hub.${reason.toLowerCase()}`, subject: details?.name ?? 'request' });
    this.httpCode = httpCode;
    this.reason = reason;
    this.statusMessage = message;
    this.details = details;
  }

  /** The body of the answer. */
  toStatus(): JsonObject {
    const status: JsonObject = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.statusMessage,
    };
    if (this.reason !== '') status['reason'] = this.reason;
    if (this.details !== undefined) status['details'] = detailsToJson(this.details);
    status['code'] = this.httpCode;
    return status;
  }
}

function detailsToJson(details: StatusDetails): JsonObject {
  const json: JsonObject = {};
  for (const [key, value] of Object.entries(details)) {
    if (value === undefined || value === '') continue;
    setOwn(
      json,
      key,
      Array.isArray(value) ? value.map((cause) => ({ ...(cause as object) })) : (value as string),
    );
  }
  return json;
}
