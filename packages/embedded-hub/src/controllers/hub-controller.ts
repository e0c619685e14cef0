/** A control loop: derives its work from what is stored when it starts, then from changes. */
export interface HubController {
  start(): void;
  stop(): Promise<void>;
}
