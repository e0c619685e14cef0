import type { RequestHandler } from 'express';
import type { Clock } from '@berth/runtime/clock/clock';
import type { PreviewParts } from './controller-http-options.ts';

const SOURCE = /^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$/;
const FILE = /^[1-9][0-9]{0,15}\.(html|svg)$/;
/** A report must not run scripts or load anything, even if the escaping of a name failed. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";

/** Serves a stored page or picture of a preview: with a signed link that has not expired, or with a token as for `/api`. */
export function previewRoute(
  { reports, links }: PreviewParts,
  { clock }: { readonly clock: Clock },
  requireApi: RequestHandler,
): RequestHandler {
  return (request, response, next) => {
    const send = async (): Promise<void> => {
      const { source, file } = request.params;
      const isName =
        typeof source === 'string' && typeof file === 'string' && SOURCE.test(source) && FILE.test(file);
      const content = isName ? await reports.read(source, file) : undefined;
      if (content === undefined) {
        response.status(404).json({ message: 'there is no such preview' });
        return;
      }
      response
        .type(String(file).endsWith('.svg') ? 'image/svg+xml' : 'html')
        .set({ 'content-security-policy': POLICY, 'x-content-type-options': 'nosniff' })
        .set({ 'referrer-policy': 'no-referrer' })
        .send(content);
    };
    if (links.isValid(request.path, request.query, clock.now())) void send().catch(next);
    else
      void requireApi(request, response, (error?: unknown) => {
        if (error === undefined) void send().catch(next);
        else next(error);
      });
  };
}
