import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { ApiAddress } from '../../../interop/peers/api-client.ts';
import type { LooseJson } from '../../../../packages/embedded-hub/test/loose-json.ts';

/** The first lines of a watch, or all of them where the server ends it before. */
export async function readStream(
  { url, token, caPem }: ApiAddress,
  path: string,
  count: number,
): Promise<{ readonly status: number; readonly lines: readonly LooseJson[] }> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    request(`${url}${path}`, { ca: caPem, headers, agent: false }, resolve).on('error', reject).end();
  });
  const lines: LooseJson[] = [];
  let rest = '';
  response.setEncoding('utf8');
  for await (const chunk of response) {
    const parts = (rest + String(chunk)).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts.filter((line) => line !== '').map((line) => JSON.parse(line)));
    if (lines.length >= count) break;
  }
  response.destroy();
  return { status: response.statusCode ?? 0, lines: lines.slice(0, count) };
}
