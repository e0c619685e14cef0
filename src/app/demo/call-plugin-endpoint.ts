import { readFile } from 'node:fs/promises';
import { TransientError } from '@berth/runtime/errors';

/** Calls the plugin endpoint as the ApplicationSet controller does. */
export async function callPluginEndpoint(request: {
  readonly url: string;
  readonly tokenFile: string;
  readonly parameters: Readonly<Record<string, string>>;
}): Promise<unknown> {
  const { url, tokenFile, parameters } = request;
  const response = await fetch(`${url}/api/v1/getparams.execute`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}`,
    },
    body: JSON.stringify({ applicationSetName: 'guestbook', input: { parameters } }),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  if (!response.ok)
    throw new TransientError(`answered ${response.status}, expected 200: ${text}`, {
      code: 'demo.argocd',
      subject: url,
    });
  return JSON.parse(text);
}
