"""Plays a level of DOOM in ViZDoom with random actions and prints the counted steps as a line of JSON.

    vizdoom.py WAD PICTURE TICS SKIP PROCESSES SECONDS

PICTURE is full (320x200 palette indices), half (160x120 grey pixels, the smallest of ViZDoom) or none. Each process plays
a game of its own: no process waits for another one, except at the begin of a repetition. Before the measurement, each
takes SKIP steps without a picture, and then steps for SECONDS.
"""

import json
import multiprocessing
import multiprocessing.connection
import os
import random
import sys
import tempfile
import time

import vizdoom as vzd

REPETITIONS = 3
ACTIONS = 1 << 16
FORMATS = {
    "full": (vzd.ScreenResolution.RES_320X200, vzd.ScreenFormat.DOOM_256_COLORS8),
    "half": (vzd.ScreenResolution.RES_160X120, vzd.ScreenFormat.GRAY8),
    "none": (vzd.ScreenResolution.RES_160X120, vzd.ScreenFormat.GRAY8),
}
BUTTONS = ["MOVE_FORWARD", "MOVE_BACKWARD", "MOVE_LEFT", "MOVE_RIGHT", "TURN_LEFT", "TURN_RIGHT", "ATTACK", "USE"]


def action(numbers):
    """Returns a random action with the odds of `kvrm bench doom`, as the state of each button."""
    eighth = lambda: numbers.randrange(8)
    move, strafe, turn, kind = [1, 1, 1, 1, -1, 0, 0, 0][eighth()], eighth(), eighth(), eighth()
    return [move > 0, move < 0, strafe == 0, strafe == 1, turn < 2, 2 <= turn < 4, kind < 2, 2 <= kind < 4]


def start(wad, picture, seed):
    game = vzd.DoomGame()
    game.set_doom_game_path(wad)
    game.set_doom_map("E1M1")
    game.set_doom_skill(3)
    game.set_mode(vzd.Mode.PLAYER)
    game.set_seed(seed)
    game.set_episode_timeout(0)
    game.set_window_visible(False)
    game.set_sound_enabled(False)
    game.set_render_hud(True)  # the status bar, which `kvrm bench doom` draws, too
    resolution, pixels = FORMATS[picture]
    game.set_screen_resolution(resolution)
    game.set_screen_format(pixels)
    game.set_available_buttons([getattr(vzd.Button, button) for button in BUTTONS])
    game.init()
    return game


def play(number, wad, picture, tics, skip, seconds, barrier, results):
    game = start(wad, picture, number + 1)
    numbers = random.Random(number)
    # Made in advance, so that the time is ViZDoom's.
    actions = [action(numbers) for _ in range(ACTIONS)]
    taken = ends = 0

    def step(draws):
        nonlocal taken, ends
        # As in KVRM, the step after the end of an episode begins another one.
        if game.is_episode_finished():
            game.new_episode()
            ends += 1
        elif draws:
            game.make_action(actions[taken % ACTIONS], tics)
            state = game.get_state()
            if state is not None and state.screen_buffer is None:
                raise RuntimeError("ViZDoom gave no picture")
        else:
            game.set_action(actions[taken % ACTIONS])
            game.advance_action(tics, False)  # updates no state, so nothing is drawn
        taken += 1

    def repetition(length):
        barrier.wait(length + 120)
        begin, before = time.perf_counter(), taken
        while True:
            step(picture != "none")
            elapsed = time.perf_counter() - begin
            if elapsed >= length:
                return (taken - before) / elapsed

    for _ in range(skip):
        step(False)
    repetition(seconds)  # a warm-up
    results.put(([repetition(seconds) for _ in range(REPETITIONS)], ends))
    game.close()


def play_or_abort(number, *game):
    barrier = game[-2]
    # ViZDoom makes a folder and a file of settings in the current one. Games that share it can fail to start.
    os.mkdir(str(number))
    os.chdir(str(number))
    try:
        play(number, *game)
    except BaseException:
        barrier.abort()  # so that the others do not wait for this process
        raise


def play_all(processes, *game):
    """Returns the results of all processes."""
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(processes), context.SimpleQueue()
    players = [context.Process(target=play_or_abort, args=(number, *game, barrier, results))
               for number in range(processes)]
    for player in players:
        player.start()
    running = players
    while running:
        multiprocessing.connection.wait([player.sentinel for player in running])
        for player in running:
            if player.exitcode not in (None, 0):
                for other in players:
                    other.terminate()
                sys.exit(f"a process of ViZDoom ended with status {player.exitcode}")
        running = [player for player in running if player.exitcode is None]
    return [results.get() for _ in players]


def main():
    wad, picture, tics, skip, processes, seconds = sys.argv[1:7]
    game = (os.path.abspath(wad), picture, int(tics), int(skip), float(seconds))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        results = play_all(int(processes), *game)
        os.chdir("/")
    rates, ends = zip(*results)
    print(json.dumps({"version": vzd.__version__, "processes": int(processes), "episodes_ended": sum(ends),
                      "all_steps_a_second": [sum(repetition) for repetition in zip(*rates)]}))


if __name__ == "__main__":
    main()
