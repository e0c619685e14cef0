import type { RequestContext } from '../request/request-context.ts';
import { StatusError } from '../wire/status-error.ts';
import type { WebhookResponses } from './webhook-responses.ts';

/**
 * Runs an operation, writes the audit annotations of admission to the audit log, and adds its
 * warnings to an error response, too.
 */
export async function withAdmissionNotes<T>(
  context: RequestContext,
  { annotations, warnings }: WebhookResponses,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof StatusError && warnings.length > 0 ? error.withWarnings([...warnings]) : error;
  } finally {
    context.annotate(annotations);
  }
}
