import { ObjectCache } from '@berth/kube/cache/object-cache';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import type { AddOnOptions } from '@berth/addon/manager/addon-controller';
import type { HubController } from '@berth/kube/controller/cached-controller';
import { type RunningControllers, runControllers } from '@berth/kube/controller/run-controllers';

/** A hub, and some controllers of add-ons that may die and begin again. */
export abstract class MortalManager {
  readonly api = new FakeKubeApi();
  readonly clock = new FakeClock();
  #running: { readonly controllers: RunningControllers; readonly supervisor: Supervisor } | undefined;

  protected abstract controllers(options: AddOnOptions): readonly HubController[];

  start(through: KubeApi = this.api): void {
    const shared = { clock: this.clock, random: () => 0.5, log: new SilentLogger() };
    const cache = new ObjectCache({ ...shared, api: through });
    const options = { ...shared, hub: through, cache };
    const controllers = runControllers(options, this.controllers(options), 'add-ons');
    const supervisor = new Supervisor(shared);
    cache.start(supervisor);
    this.#running = { controllers, supervisor };
  }

  /** A dead process closes nothing: its calls never return. Only its timers must not go on in this one. */
  stop(): void {
    void this.#running?.controllers.close();
    void this.#running?.supervisor.close();
    this.#running = undefined;
  }

  async settle(): Promise<void> {
    for (let round = 0; round < 5; round += 1) await this.clock.advance(12_000);
  }
}
