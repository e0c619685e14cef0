import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PLACEMENT } from '@berth/kube/model/kinds';
import { baseFiles, placement, yaml } from '../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../app/serve/served-fleet.ts';

describe('a decision that the hub refuses', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
  });
  afterEach(() => fleet.close());

  const name = 'a'.repeat(70);
  const outputHas = (text: string) => async () => {
    const { stdout } = await fleet.status();
    return stdout.includes(text) ? stdout : undefined;
  };

  it('is in status until it can be written or the placement is gone', async () => {
    fleet.git.commit({
      ...baseFiles,
      'long.yaml': yaml(placement(name)),
      'web.yaml': yaml(placement('web')),
    });
    await fleet.serve({ http: fleet.http() });
    const text = `the decision of placement team-a/${name} is not published: `;
    const stdout = await fleet.until(outputHas(text));
    expect(stdout).toContain('must be no more than 63');
    expect(stdout).toContain('metadata.name: has 70 characters, expected at most 63');
    await fleet.event('published', ({ placement: key }) => key === 'team-a/web');
    fleet.git.commit({ 'long.yaml': undefined });
    await fleet.until(async () =>
      (await fleet.hub.api.get(PLACEMENT, { namespace: 'team-a', name })) === undefined ? true : undefined,
    );
    await fleet.until(async () => ((await outputHas(text)()) === undefined ? true : undefined));
  });
});
