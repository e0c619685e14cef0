import { describe, expect, it } from 'vitest';
import { type Life, MortalKubeApi } from '@berth/test-kit/mortal-kube-api';
import { SplitHarness } from '../controllers/works/split-harness.ts';

describe('a template that is spread over several works', () => {
  it.each([true, false])(
    'takes nothing away although the controller dies at any write (the last one done: %s)',
    async (lastIsDone) => {
      let lived = false;
      for (let writes = 1; !lived; writes++) {
        const harness = new SplitHarness();
        await harness.fleet.place('all', ['c1']);
        await harness.start();
        await harness.cut('four and two', '0');
        await harness.fleet.settle(20_000);
        await harness.fleet.stop();
        const life: Life = { dead: false, writesLeft: writes, lastIsDone };
        await harness.start(new MortalKubeApi(harness.fleet.hub, life));
        await harness.cut('one, three and two', '1');
        await harness.fleet.settle(20_000);
        lived = !life.dead;
        if (life.dead) harness.fleet.abandon();
        else await harness.fleet.stop();
        // The next one finds another template, in the middle of the handover.
        await harness.cut('three and three', '2');
        await harness.start();
        await harness.fleet.settle(30_000);
        expect(harness.member.deleted).toEqual([]);
        expect(Object.values(await harness.member.contents()).map((text) => text[0])).toEqual(
          Array.from({ length: 6 }, () => '2'),
        );
        expect(await harness.fleet.works()).toHaveLength(2);
        await harness.stop();
        expect(writes).toBeLessThan(60);
      }
    },
  );
});
