import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { WebhookEvent, WebhookProvider } from '../../src/event/webhook-event.ts';
import { concernsRepository } from '../../src/request/repository-url.ts';
import { verifyWebhook } from '../../src/webhook/verify-webhook.ts';
import { parseWebhook } from '../../src/webhook/webhook-handler.ts';
import { apiProblems } from '../fakes/api-description.ts';
import type { ForgeRequest, ForgeResponse } from '../fakes/forge-server.ts';

/** A delivery that a forge sent to somebody, reduced to the fields that are read; names of people and teams are replaced. */
interface Recorded {
  readonly forge: WebhookProvider;
  /** Who published it. */
  readonly from: string;
  /** The header that names the event. */
  readonly event?: string;
  readonly body: object;
  readonly want: object;
  /** An address of its repository. */
  readonly of?: string;
}
const RECORDED = readFileSync(new URL('recorded-deliveries.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

const EVENT_HEADERS: Readonly<Partial<Record<WebhookProvider, string>>> = {
  ...{ github: 'x-github-event', gitlab: 'x-gitlab-event', bitbucket: 'x-event-key' },
};

describe('what forges sent to others is understood', () => {
  it.each(RECORDED)('$from', ({ forge, event, body, want, of }) => {
    const headers = { [EVENT_HEADERS[forge] ?? '']: event };
    const parsed = parseWebhook(forge, headers, Buffer.from(JSON.stringify(body))) as WebhookEvent;
    expect(parsed).toMatchObject(want);
    if (parsed.kind !== 'other') expect(of !== undefined && concernsRepository(parsed, of)).toBe(true);
  });

  const SECRET = "It's a Secret to Everybody";
  const STANDARD = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  it.each<[WebhookProvider, string, string, Readonly<Record<string, string>>]>([
    [
      'github',
      SECRET,
      'Hello, World!',
      { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
    ],
    [
      'bitbucket',
      SECRET,
      'Hello World!',
      { 'x-hub-signature': 'sha256=a4771c39fbe90f317c7824e83ddef3caae9cb3d976c214ace1f2937e133263c9' },
    ],
    ['gitlab', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', '{"test": 2432232314}', STANDARD],
  ])('the signature in the documentation of %s, and no other', (provider, secret, text, headers) => {
    const nowMs = 1_614_265_330_000;
    const isVerified = (body: string): boolean =>
      verifyWebhook(provider, { headers, body: Buffer.from(body), nowMs }, { secrets: [secret] });
    expect([isVerified(text), isVerified(`${text} `)]).toEqual([true, false]);
  });
});

describe('a request or an answer that a forge does not describe is a problem', () => {
  const url = '/repos/team/fleet/issues/7/comments';
  const answered = (status: number, body: unknown): ForgeResponse => ({ status, body });
  it.each<[Partial<ForgeRequest>, ForgeResponse | undefined, readonly string[]]>([
    [{ method: 'POST', url, body: { body: 'x' } }, answered(201, { id: 1, user: null }), []],
    [{ method: 'POST', url, body: {} }, undefined, ['body lacks body']],
    [{ method: 'POST', url, body: { body: 1 } }, undefined, ['body.body is 1, expected string:65536']],
    [{ method: 'POST', url, body: { body: '', to: 1 } }, undefined, ['body.to is not described']],
    [
      { method: 'POST', url, body: { body: 'x'.repeat(65_537) } },
      undefined,
      [expect.stringContaining('65536')],
    ],
    [{ method: 'GET', url: `${url}?limit=1` }, undefined, ['query.limit is not described']],
    [{ method: 'GET', url: `${url}?page=x` }, undefined, ['query.page is null, expected integer']],
    [{ method: 'GET', url }, answered(200, { id: 1 }), ['200 is {"id":1}, expected a list']],
    [{ method: 'GET', url }, answered(202, []), ['202 is not described']],
    [{ method: 'PUT', url }, undefined, ['does not exist']],
  ])('%j answered %j', (request, answer, want) => {
    const asked = {
      method: undefined,
      url: undefined,
      authorization: undefined,
      body: undefined,
      ...request,
    };
    const problems = apiProblems('github', asked, answer);
    expect(problems.map((one) => one.replace(/^.*(?:: |comments )/, ''))).toEqual(want);
  });
});
