// SPDX-License-Identifier: GPL-2.0
/*
 * Hands the first two lines of the chip "board" to the kernel's own drivers, as a board's device tree does:
 *
 *  - line 0 becomes the key BTN_0 of the input device "gpio-keys", down while the line is low;
 *  - line 1 becomes the LED "status" of leds-gpio, with the kernel's heartbeat as its trigger.
 *
 * This happens when 1 is written to /sys/module/board_drivers/parameters/bound; nothing may hold the lines then.
 */
#include <linux/err.h>
#include <linux/gpio/driver.h>
#include <linux/gpio_keys.h>
#include <linux/input.h>
#include <linux/leds.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/string.h>

static struct gpio_keys_button button = { .code = BTN_0, .active_low = 1, .debounce_interval = 5 };
static const struct gpio_keys_platform_data button_data = { .buttons = &button, .nbuttons = 1 };
static struct gpio_led led = { .name = "status", .default_trigger = "heartbeat" };
static const struct gpio_led_platform_data led_data = { .leds = &led, .num_leds = 1 };

static bool bound;

static int is_board(struct gpio_chip *chip, void *unused)
{
	return chip->label && !strcmp(chip->label, "board");
}

static int bind(const char *value, const struct kernel_param *parameter)
{
	struct gpio_chip *chip = gpiochip_find(NULL, is_board);
	struct platform_device *device;

	if (bound)
		return -EBUSY;
	if (!chip || chip->ngpio < 2)
		return -ENODEV;
	button.gpio = chip->base;
	led.gpio = chip->base + 1;
	bound = true;
	device = platform_device_register_data(NULL, "gpio-keys", PLATFORM_DEVID_NONE, &button_data, sizeof(button_data));
	if (IS_ERR(device))
		return PTR_ERR(device);
	device = platform_device_register_data(NULL, "leds-gpio", PLATFORM_DEVID_NONE, &led_data, sizeof(led_data));
	return PTR_ERR_OR_ZERO(device);
}

static const struct kernel_param_ops operations = {
	.set = bind,
	.get = param_get_bool,
};
module_param_cb(bound, &operations, &bound, 0644);
MODULE_PARM_DESC(bound, "whether the kernel's drivers have the lines");

/* There is no way back: the board ends with its test. */
static int __init board_drivers_init(void)
{
	return 0;
}

module_init(board_drivers_init);
MODULE_DESCRIPTION("Lines of the virtual board for gpio-keys and leds-gpio");
MODULE_LICENSE("GPL");
