import { type JsonObject, textAt } from '../json/json-value.ts';

/**
 * A webhook call failed, or its response is invalid. The message is the last part of the API
 * server's message, to which the caller adds the first: clients, logs and tests of operators rely
 * on these texts.
 */
export class WebhookError extends Error {
  /** HTTP status of an error response. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

/**
 * Why a connection or a request failed, with the message of Go's libraries.
 * @param address `host:port`
 */
export function connectionProblem(error: unknown, address: string): string {
  const { code = '', message = String(error) } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${address}: connect: connection refused`;
    case 'ENOTFOUND':
      return `dial tcp: lookup ${address.slice(0, address.lastIndexOf(':'))}: no such host`;
    case 'ECONNRESET':
      return 'EOF';
    case 'ABORT_ERR':
      return 'context deadline exceeded';
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
    case 'CERT_HAS_EXPIRED':
      return 'tls: failed to verify certificate: x509: certificate has expired or is not yet valid';
    default:
      return message;
  }
}

/**
 * The message for a response with an error status. Source: client-go `rest/request.go`,
 * apimachinery `NewGenericServerResponse`.
 */
export function statusProblem(status: number, text: string): string {
  switch (status) {
    case 400:
      return 'the server rejected our request for an unknown reason';
    case 401:
      return 'the server has asked for the client to provide credentials';
    case 403:
    case 415:
      return text;
    case 404:
      return 'the server could not find the requested resource';
    case 405:
      return 'the server does not allow this method on the requested resource';
    case 409:
      return 'the server reported a conflict';
    case 422:
      return 'the server rejected our request due to an error in our request';
    case 429:
      return 'the server has received too many requests and has asked us to try again later';
    case 503:
      return 'the server is currently unable to handle the request';
    case 504:
      return 'the server was unable to return a response in the time allotted, but may still be processing the request';
    default:
      return status >= 500
        ? `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`
        : `the server responded with the status code ${String(status)} but did not return more information`;
  }
}

interface ReviewKind {
  readonly group: string;
  readonly kind: string;
  /** The versions that the hub can read. */
  readonly versions: readonly string[];
}

/**
 * The problem of the kind of a response to a review of `version`, with the message of Go's decoder.
 */
export function reviewKindProblem(
  review: JsonObject,
  version: string,
  { group, kind, versions }: ReviewKind,
): string | undefined {
  const [apiVersion, got] = [textAt(review, 'apiVersion'), textAt(review, 'kind')];
  if (apiVersion === `${group}/${version}` && got === kind) return undefined;
  if (got === '') return `Object 'Kind' is missing in '${JSON.stringify(review)}'`;
  const other = versions.find((one) => apiVersion === `${group}/${one}`);
  if (other === undefined || got !== kind)
    return `no kind "${got}" is registered for version "${apiVersion}" in scheme "pkg/runtime/scheme.go:111"`;
  return `converting (${other}.${kind}) to (${version}.${kind}): unknown conversion`;
}
